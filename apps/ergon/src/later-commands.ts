/** Commands that CONTRACT names and that this version does not have yet: known words, refused by name. */
export const LATER_COMMANDS = ["servers", "approvals", "chat", "energy"] as const;
