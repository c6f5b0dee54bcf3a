/** Spec 3's ids: the first eight characters of a random UUID. */
export function createLoopIds(
  random: (bytes: Uint8Array<ArrayBuffer>) => void = (bytes) => void crypto.getRandomValues(bytes),
): () => string {
  return () => {
    const bytes = new Uint8Array(LOOP_ID_BYTES);
    random(bytes);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
}

const LOOP_ID_BYTES = 4;
