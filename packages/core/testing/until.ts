const PATIENCE_MS = 10_000;
const PAUSE_MS = 2;

/** Resolves once the condition holds. Both Vitest and Deno run it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not true within ${String(PATIENCE_MS)} ms: ${String(holds)}`);
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
}
