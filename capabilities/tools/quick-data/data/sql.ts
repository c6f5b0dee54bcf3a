/** An identifier as SQL has it, whatever is in it. */
export function nameOf(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** For the few places that take no bound value. */
export function textOf(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
