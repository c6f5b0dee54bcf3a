import { ErgonError } from "./ergon-error.ts";

export type PackErrorCode = "pack_missing";

/** Loads from an optional package. Where that is not installed, the error says how to install it. */
export async function fromPack<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    throw isAbsent(thrown, name) ? packMissing(name, thrown) : thrown;
  }
}

export function packMissing(name: string, cause?: unknown): ErgonError<PackErrorCode> {
  const message = `The optional package ${name} is not installed. Install it beside ergon: npm i ${name}`;
  return new ErgonError("pack_missing", message, { cause, details: { package: name } });
}

/** A package that is there but broken is another failure: its own error says more. */
function isAbsent(thrown: unknown, name: string): boolean {
  const { code, message } = thrown as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`'${name}'`);
}
