// Run with --allow-natives-syntax: says which of V8's compilers made what ran a lot, compiled within and after.
import { runInThisContext } from "node:vm";
import { withBaselineWasm } from "./baseline-wasm.ts";

/** `(func (export "f") (param i32) (result i32)`: counts down to zero. */
const BYTES = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 18, 1, 16, 0, 3, 64,
  32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 32, 0, 11,
]);
type Instance = { readonly instance: { readonly exports: object } };
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly instantiate: (bytes: Uint8Array) => Promise<Instance> };
};
const isOptimized = runInThisContext("(f) => %IsTurboFanFunction(f)") as (f: unknown) => boolean;

async function isOptimizedAfterUse(): Promise<boolean> {
  // A module of its own each time: V8 knows bytes again that it has compiled.
  const { instance } = await WebAssembly.instantiate(new Uint8Array([...BYTES, 0, 2, 1, nonce++]));
  const { f } = instance.exports as { readonly f: (n: number) => number };
  for (let tried = 0; tried < 200 && !isOptimized(f); tried += 1) {
    f(5_000_000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return isOptimized(f);
}

let nonce = 1;
const within = await withBaselineWasm(isOptimizedAfterUse);
const after = await isOptimizedAfterUse();
process.stdout.write(JSON.stringify({ within, after }));
