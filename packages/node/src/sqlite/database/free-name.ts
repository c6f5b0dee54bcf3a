import { existsSync } from "node:fs";
import { storeError } from "@ergon/core/schema";

/** Copies of one file or folder that are kept beside each other. */
export const MAX_COPIES = 100;

/** The path itself, or with a number behind it, whichever is free first. */
export function freeName(path: string): string {
  for (let n = 1; n <= MAX_COPIES; n += 1) {
    const name = n === 1 ? path : `${path}-${String(n)}`;
    if (!existsSync(name)) return name;
  }
  throw storeError("store_unavailable", `${path} and ${String(MAX_COPIES - 1)} more copies exist. Move them away.`);
}
