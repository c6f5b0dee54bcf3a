import type { OpenWait } from "@ergon/core";

/** More names than these would be no help. */
export const MAX_FIELDS_SHOWN = 8;

/** What an answer to a question looks like on the command line: the names that it asks for, or nothing but a place for it. */
export function answerForm({ inputSchema }: Pick<OpenWait, "inputSchema">): string {
  if (typeof inputSchema !== "object") return PLACE;
  const { required, properties } = inputSchema;
  const asked = Array.isArray(required) && required.length > 0 ? required : Object.keys(properties ?? {});
  // It stands between single quotes, which a shell would end at.
  const names = asked.filter((name): name is string => typeof name === "string" && /^[\w-]+$/.test(name));
  if (names.length === 0 || names.length < asked.length || names.length > MAX_FIELDS_SHOWN) return PLACE;
  return `'{${names.map((name) => `"${name}":…`).join(",")}}'`;
}

const PLACE = "'…'";
