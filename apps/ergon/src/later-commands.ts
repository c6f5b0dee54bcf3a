/** Commands that CONTRACT names and that this version does not have yet: known words, refused by name. */
export const LATER_COMMANDS = ["mcp", "servers", "approvals", "chat", "energy"] as const;
