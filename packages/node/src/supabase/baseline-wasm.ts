import { setFlagsFromString } from "node:v8";

const BASELINE = ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"];
const USUAL = ["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"];
let asking = 0;

/**
 * What V8 compiles of WebAssembly meanwhile stays with its first compiler. For Postgres the second one takes half a
 * gigabyte and seconds of both processors, and the queries are no faster afterwards. It can be told for the process
 * alone, and other modules gain by the second compiler: so only while Postgres starts, when it runs what it runs most.
 */
export async function withBaselineWasm<T>(work: () => Promise<T>): Promise<T> {
  asking += 1;
  if (asking === 1) for (const flag of BASELINE) setFlagsFromString(flag);
  try {
    return await work();
  } finally {
    asking -= 1;
    if (asking === 0) for (const flag of USUAL) setFlagsFromString(flag);
  }
}
