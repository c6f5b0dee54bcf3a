import { join } from "node:path";
import type { OpenContender } from "./contender.ts";

/*
 * LangGraph.js with its SqliteSaver: a graph of nodes in a row, one thread per run, each checkpoint written before the
 * next node begins (`durability: "sync"`). Runs under the machine's own Node, which its SQLite driver was built for.
 */
export const open: OpenContender = async ({ folder, stepped }) => {
  const { Annotation, END, START, StateGraph } = (await import(LANGGRAPH)) as LangGraph;
  const { SqliteSaver } = (await import(`${LANGGRAPH}-checkpoint-sqlite`)) as SaverModule;
  const saver = SqliteSaver.fromConnString(join(folder, "state.db"));
  const graphs = new Map<number, Graph>();
  let threads = 0;

  function chain(steps: number): Graph {
    const builder = new StateGraph(Annotation.Root({ done: Annotation() }));
    // Past this length LangGraph's own set-up of so many nodes would be what is measured: one node goes round instead.
    if (steps > MAX_NODES) {
      builder.addNode("step", ({ done }) => {
        stepped();
        return { done: Number(done ?? 0) + 1 };
      });
      builder.addEdge(START, "step");
      builder.addConditionalEdges("step", ({ done }) => (Number(done) < steps ? "step" : END), ["step", END]);
      return builder.compile({ checkpointer: saver });
    }
    for (let at = 1; at <= steps; at += 1) {
      builder.addNode(`step-${String(at)}`, () => {
        stepped();
        return { done: at };
      });
      builder.addEdge(at === 1 ? START : `step-${String(at - 1)}`, `step-${String(at)}`);
    }
    builder.addEdge(`step-${String(steps)}`, END);
    return builder.compile({ checkpointer: saver });
  }

  return {
    synchronous: () => Promise.resolve(String(saver.db.pragma("synchronous", { simple: true }))),
    run: async (steps) => {
      const graph = graphs.get(steps) ?? chain(steps);
      graphs.set(steps, graph);
      threads += 1;
      await graph.invoke(
        { done: 0 },
        { configurable: { thread_id: `thread-${String(threads)}` }, durability: "sync", recursionLimit: steps + 10 },
      );
    },
    // A thread has two checkpoints more than steps: its input, and what follows from it before the first node.
    storedSteps: () => {
      const [row] = saver.db.prepare("SELECT count(*) - 2 * count(DISTINCT thread_id) AS steps FROM checkpoints").all();
      return Promise.resolve(Number(row?.["steps"]));
    },
  };
};

const LANGGRAPH = "@langchain/langgraph";
const MAX_NODES = 20;

type State = { readonly done: unknown };
type Graph = { readonly invoke: (state: State, options: Readonly<Record<string, unknown>>) => Promise<unknown> };
type LangGraph = {
  readonly Annotation: { (): unknown; readonly Root: (channels: Readonly<Record<string, unknown>>) => unknown };
  readonly END: string;
  readonly START: string;
  readonly StateGraph: new (state: unknown) => {
    addNode(name: string, run: (state: State) => State): void;
    addEdge(from: string, to: string): void;
    addConditionalEdges(from: string, next: (state: State) => string, targets: readonly string[]): void;
    compile(options: { readonly checkpointer: unknown }): Graph;
  };
};
type SaverModule = {
  readonly SqliteSaver: {
    readonly fromConnString: (path: string) => {
      readonly db: {
        pragma(name: string, options: { readonly simple: true }): unknown;
        prepare(sql: string): { all(): readonly Readonly<Record<string, unknown>>[] };
      };
    };
  };
};
