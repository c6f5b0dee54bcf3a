export const REDACTED = "[redacted]";
const SECRET_TEXT = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}|(?<=:\/\/)[^/\s@]+(?=@)|\bsk-[\w-]{16,}/g;
const SECRET_NAME =
  /^(authorization|proxy-authorization|(set-)?cookie2?)$|token|passw(or)?d|passphrase|secret|credential|(api|private|access|service|role|signing|encryption)[-_]?key/i;

/** Texts that look like credentials, replaced; the rest as it is. */
export function redactSecrets(text: string): string {
  return text.replaceAll(SECRET_TEXT, REDACTED);
}

/**
 * Whether what stands under this name is hidden. Numbers stay even there, and yes and no: `maxTokens` is not a secret.
 */
export function isSecretEntry(name: string, value: unknown): boolean {
  const harmless = value === null || value === undefined || typeof value === "number" || typeof value === "boolean";
  return !harmless && SECRET_NAME.test(name);
}
