import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { OpenContender } from "./contender.ts";

/*
 * openworkflow with SQLite: one workflow function with `step.run` in a loop. Its worker looks for work every 100 ms and
 * more; here it is told of each new run at once, so that its steps are measured and not that wait.
 */
export const open: OpenContender = async ({ folder, stepped }) => {
  const { OpenWorkflow } = (await import(OPENWORKFLOW)) as WorkflowModule;
  const { BackendSqlite } = (await import(`${OPENWORKFLOW}/sqlite`)) as BackendModule;
  const backend = BackendSqlite.connect(join(folder, "state.db"));
  const system = new OpenWorkflow({ backend });
  const runs = new Map<number, { begun: boolean; readonly end: () => void }>();
  let made = 0;
  const workflow = system.defineWorkflow<Input>({ name: "chain" }, async ({ input: { id, steps }, step }) => {
    const own = runs.get(id);
    if (own !== undefined) own.begun = true;
    for (let at = 1; at <= steps; at += 1) await step.run({ name: `step-${String(at)}` }, async () => stepped());
    own?.end();
  });
  const workers = new Map<number, Worker>();

  function workerFor(sessions: number): Worker {
    const worker = workers.get(sessions) ?? system.newWorker({ concurrency: sessions + 1 });
    workers.set(sessions, worker);
    return worker;
  }

  return {
    maxSteps: 1_000,
    synchronous: () => Promise.resolve(String(backend.db.prepare("PRAGMA synchronous").get()?.["synchronous"])),
    run: async (steps, sessions) => {
      made += 1;
      const id = made;
      const { promise, resolve } = Promise.withResolvers<void>();
      const own = { begun: false, end: resolve };
      runs.set(id, own);
      await workflow.run({ id, steps });
      // One look takes up every run that waits, those of other sessions too.
      while (!own.begun) if ((await workerFor(sessions).tick()) === 0) await new Promise(setImmediate);
      await promise;
      runs.delete(id);
    },
    storedSteps: () => {
      const done = backend.db.prepare("SELECT count(*) AS steps FROM step_attempts WHERE status = 'completed'").get();
      return Promise.resolve(Number(done?.["steps"]));
    },
  };
};

const OPENWORKFLOW = "openworkflow";

type Input = { readonly id: number; readonly steps: number };
type Step = { run(options: { readonly name: string }, work: () => Promise<void>): Promise<void> };
type Worker = { tick(): Promise<number> };
type WorkflowModule = {
  readonly OpenWorkflow: new (options: { readonly backend: unknown }) => {
    defineWorkflow<I>(
      spec: { readonly name: string },
      run: (parts: { readonly input: I; readonly step: Step }) => Promise<void>,
    ): { run(input: I): Promise<unknown> };
    newWorker(options: { readonly concurrency: number }): Worker;
  };
};
type BackendModule = { readonly BackendSqlite: { readonly connect: (path: string) => { readonly db: DatabaseSync } } };
