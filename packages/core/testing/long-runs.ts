/** How much more `npm run test:long` does than `npm test`. */
const LONG_FACTOR = 100;

/** The number of runs (or milliseconds) for this kind of test run. */
export function longRuns(normal: number): number {
  return longTests() ? normal * LONG_FACTOR : normal;
}

/** Read without a runtime's types: the suites run under Node and Deno. */
function longTests(): boolean {
  const host = globalThis as { readonly process?: { readonly env: Readonly<Record<string, string | undefined>> } };
  return host.process?.env["ERGON_LONG"] === "1";
}
