const REDACTED = "[redacted]";
const SECRET_TEXT = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}|(?<=:\/\/)[^/\s@]+(?=@)|\bsk-[\w-]{16,}/g;

/** Texts that look like credentials, replaced; the rest as it is. */
export function redactSecrets(text: string): string {
  return text.replaceAll(SECRET_TEXT, REDACTED);
}
