import { join } from "node:path";
import { z } from "zod";
import type { OpenContender } from "./contender.ts";

/*
 * Mastra workflows with LibSQL: a workflow of steps in a row. Mastra writes the run's snapshot when a step begins and
 * when it has ended; the snapshot holds every result so far.
 */
export const open: OpenContender = async ({ folder, stepped }) => {
  const { Mastra } = (await import(`${CORE}/mastra`)) as MastraModule;
  const { createStep, createWorkflow } = (await import(`${CORE}/workflows`)) as WorkflowsModule;
  const { LibSQLStore } = (await import(LIBSQL)) as StoreModule;
  const storage = new LibSQLStore({ id: "bench", url: `file:${join(folder, "state.db")}` });
  await storage.init();
  const shape = z.object({});
  const workflows = new Map<number, Workflow>();

  function chain(steps: number): Workflow {
    const execute = async (): Promise<object> => {
      stepped();
      return {};
    };
    let workflow = createWorkflow({ id: `chain-${String(steps)}`, inputSchema: shape, outputSchema: shape });
    for (let at = 1; at <= steps; at += 1) {
      workflow = workflow.then(
        createStep({ id: `step-${String(at)}`, inputSchema: shape, outputSchema: shape, execute }),
      );
    }
    const committed = workflow.commit();
    return new Mastra({ storage, logger: false, workflows: { chain: committed } }).getWorkflow("chain");
  }

  return {
    synchronous: async () => {
      const { rows } = await storage.client.execute("PRAGMA synchronous");
      return String(rows[0]?.["synchronous"]);
    },
    run: async (steps) => {
      const workflow = workflows.get(steps) ?? chain(steps);
      workflows.set(steps, workflow);
      const run = await workflow.createRun();
      const { status } = await run.start({ inputData: {} });
      if (status !== "success") throw new Error(`A run ended as ${status}.`);
    },
    storedSteps: async () => {
      const { rows } = await storage.client.execute(
        `SELECT count(*) AS steps FROM mastra_workflow_snapshot s, json_each(json(s.snapshot), '$.context') c
          WHERE c.key LIKE 'step-%' AND json_extract(c.value, '$.status') = 'success'`,
      );
      return Number(rows[0]?.["steps"]);
    },
  };
};

const CORE = "@mastra/core";
const LIBSQL = "@mastra/libsql";

type Workflow = {
  createRun(): Promise<{ start(options: { readonly inputData: object }): Promise<{ readonly status: string }> }>;
};
type WorkflowBuilder = Workflow & { then(step: unknown): WorkflowBuilder; commit(): Workflow };
type MastraModule = {
  readonly Mastra: new (options: object) => { getWorkflow(name: string): Workflow };
};
type WorkflowsModule = {
  readonly createStep: (options: object) => unknown;
  readonly createWorkflow: (options: object) => WorkflowBuilder;
};
type StoreModule = {
  readonly LibSQLStore: new (options: object) => {
    init(): Promise<void>;
    readonly client: { execute(sql: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }> };
  };
};
