/**
 * Spec 3's ids: eight hexadecimal digits, as a UUID begins. The first is a letter: command-line clients and models that
 * see "12345678" or "1234e567" pass a number on, or a part of one, and the loop is not found.
 */
export function createLoopIds(
  random: (bytes: Uint8Array<ArrayBuffer>) => void = (bytes) => void crypto.getRandomValues(bytes),
): () => string {
  return () => {
    const bytes = new Uint8Array(LOOP_ID_BYTES);
    random(bytes);
    const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return LETTERS.charAt((bytes[0] ?? 0) % LETTERS.length) + digits.slice(1);
  };
}

const LOOP_ID_BYTES = 4;
const LETTERS = "abcdef";
