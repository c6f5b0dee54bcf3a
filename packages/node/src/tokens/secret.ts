import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;
/** Lets people and scanners see what a leaked text is. */
const PREFIX = "ergon_";

/** A new token: 256 random bits. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
}

/** Enough for a secret of 256 random bits: there is nothing to guess, so nothing to slow down. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
