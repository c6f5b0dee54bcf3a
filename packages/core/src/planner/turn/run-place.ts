import type { ChatModel } from "../../ports/chat-model.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { StateStore } from "../../ports/state-store.ts";
import { createMemoryBlobStore } from "../../memory/blob-store.ts";
import { createMemoryStateStore } from "../../memory/state-store.ts";
import type { ToolSource } from "../../plans/engine/engine-deps.ts";
import { createEngine } from "../../plans/engine/engine.ts";
import { createToolGate, type ToolGate } from "../../tools/gate/gate.ts";
import { askBeforeDestroying, type ToolPolicy } from "../../tools/gate/policy.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { Infrastructure, Tool } from "../../tools/tool.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import type { RunPlace } from "./execute-actions.ts";
import { createFinalizeSummary } from "./finalize-summary.ts";

export type OwnPlaces = {
  /** The registry's tools, the summary, and those of the request. */
  readonly tools: (added: readonly Tool[]) => ToolSource;
  /** A place for one run, gone with it unless a store was given. */
  readonly open: (source: ToolSource) => RunPlace & { readonly close: () => Promise<void> };
};

export type OwnPlacesDeps = {
  readonly registry: ToolRegistry;
  readonly model: ChatModel | undefined;
  readonly store: StateStore | undefined;
  readonly blobs: BlobStore | undefined;
  readonly policy: ToolPolicy | undefined;
  readonly infrastructure: Omit<Infrastructure, "sessionId">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

/** Engines for a program that has none of its own: in memory, one for each run, so that nothing of a run stays. */
export function createOwnPlaces(deps: OwnPlacesDeps): OwnPlaces {
  const { registry, clock, ids, logger, policy = askBeforeDestroying, infrastructure } = deps;
  const summary = createFinalizeSummary({ model: deps.model });
  const gates = new WeakMap<ToolSource, ToolGate>();
  const blobs = deps.blobs ?? createMemoryBlobStore();
  let usual: { readonly list: readonly Tool[]; readonly source: ToolSource } | undefined;

  function gateOf(source: ToolSource): ToolGate {
    const known = gates.get(source) ?? createToolGate({ registry: source, clock, logger, policy });
    gates.set(source, known);
    return known;
  }

  return {
    tools: (added) => {
      const list = registry.list();
      if (added.length === 0 && usual?.list === list) return usual.source;
      const own = registry.has(FINALIZE_TOOL) || added.some(({ id }) => id === FINALIZE_TOOL) ? [] : [summary];
      const source = sourceOf([...list, ...own], added);
      if (added.length === 0) usual = { list, source };
      return source;
    },
    open: (source) => {
      const store = deps.store ?? createMemoryStateStore({ logger });
      // With a store that outlives the run, what it refers to must too.
      const kept = deps.store === undefined && deps.blobs === undefined ? createMemoryBlobStore() : blobs;
      const engine = createEngine({
        store,
        blobs: kept,
        gate: gateOf(source),
        registry: source,
        clock,
        ids,
        logger,
        plans: NO_PLANS,
        infrastructure,
      });
      const close = async (): Promise<void> => {
        await engine.close();
        if (deps.store === undefined) await store.close();
        if (kept !== blobs) await kept.close();
      };
      return { engine, store, close };
    },
  };
}

/** Those of the request hide others of the same id. */
function sourceOf(base: readonly Tool[], added: readonly Tool[]): ToolSource {
  const tools = new Map([...base, ...added].map((tool) => [tool.id, tool]));
  const list = [...tools.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { get: (id) => tools.get(id), list: () => list };
}

const NO_PLANS = { get: () => undefined, ids: () => [] };
