/** How much more `npm run test:long` does than `npm test`. */
const LONG_FACTOR = 100;
/**
 * Under Deno, samples are this much smaller: what random plans come to is shown under Node; what Deno has to show is
 * that the same code runs there at all.
 */
const DENO_DIVISOR = 20;

/** The number of runs of one kind of sample, for this kind of test run. */
export function sampleRuns(normal: number): number {
  return "Deno" in globalThis ? Math.ceil(longRuns(normal) / DENO_DIVISOR) : longRuns(normal);
}

/** The same factor for time limits, which do not depend on the runtime. */
export function longRuns(normal: number): number {
  return longTests() ? normal * LONG_FACTOR : normal;
}

/** Read without a runtime's types: the suites run under Node and Deno. */
function longTests(): boolean {
  const host = globalThis as { readonly process?: { readonly env: Readonly<Record<string, string | undefined>> } };
  return host.process?.env["ERGON_LONG"] === "1";
}
