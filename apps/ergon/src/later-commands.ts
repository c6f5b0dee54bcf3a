/** Commands that CONTRACT names and that this version does not have yet: known words, refused by name. */
export const LATER_COMMANDS = ["chat", "energy"] as const;
