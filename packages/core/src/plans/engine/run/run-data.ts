/*
 * What a run's steps can see: the context of every open list, the history behind it, the plan's input.
 *
 * Context of open scopes is in memory; history and blobs are read when a pointer asks. A scope's parent does not
 * change while the scope is open (its list stands still at the step that opened it), so "as it was where it began"
 * is simply the chain of parents.
 */
import type { ContextRow, ContextValue, ContextWrite, JournalRow, StateStore } from "../../../ports/state-store.ts";
import { storeError } from "../../../errors/store.ts";
import { type BlobRef, isBlobRef } from "../../../schema/blob.ts";
import type { HistoryEntry } from "../../../schema/session.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { ListPlace } from "../../visits.ts";
import { type Load, loadKey, type Loaded, type PointerView } from "../../pointer/view.ts";
import { HISTORY_SCAN_LIMIT } from "../../pointer/limits.ts";
import type { BlobCache } from "../effects/blob-cache.ts";
import { enclosing, visibleRanges } from "./scope-path.ts";

export type RunData = {
  /** Without `loaded`, a view answers from memory alone and names what it misses. */
  readonly view: (place: ListPlace, loaded?: ReadonlyMap<string, unknown>) => PointerView;
  readonly load: (visit: Placed, loads: readonly Load[], into: Map<string, unknown>) => Promise<void>;
  /** The whole context as a list sees it, for tools that take it. */
  readonly contextOf: (place: ListPlace) => Record<string, Json>;
  /** The values of that context that are kept as blobs. */
  readonly contextBlobs: (place: ListPlace) => readonly BlobRef[];
  readonly write: (writes: readonly ContextWrite[], outputOf: (position: string) => Json | undefined) => void;
  readonly close: (scopes: readonly string[]) => void;
  /** Brings a scope's stored context into memory, and gives its rows. */
  readonly openScope: (scope: string) => Promise<readonly ContextRow[]>;
  /** Binds a loop's items, so that its turns find theirs. */
  readonly bindLoop: (position: string, loop: { readonly alias: string; readonly items: readonly Json[] }) => void;
  readonly unbindLoop: (position: string) => void;
};

type Placed = { readonly place: ListPlace; readonly position: string };

export type RunDataDeps = {
  readonly store: StateStore;
  readonly blobs: BlobCache;
  readonly sessionId: string;
  readonly owner: string;
  readonly input: Json;
};

type Scope = Map<string, Json>;

export function createRunData(deps: RunDataDeps): RunData {
  const scopes = new Map<string, Scope>();
  const loops = new Map<string, { readonly alias: string; readonly items: readonly Json[] }>();

  const levels = (place: ListPlace): Level[] => {
    const root: Level = { scope: scopes.get("") };
    return [
      root,
      ...enclosing(place).map((level) => ({
        ...level,
        loop: loops.get(level.position),
        scope: scopes.get(level.scope),
      })),
    ];
  };

  return {
    view: (place, loaded = NOTHING_LOADED) => {
      const chain = levels(place);
      return {
        context: (key) => lookUp(chain, key),
        contextKeys: () => Object.keys(flatten(chain)),
        promptInput: deps.input,
        history: {
          at: (index) => fromLoaded(loaded, { kind: "history-at", index }),
          ofStep: (stepId) => fromLoaded(loaded, { kind: "history-step", stepId }),
          newest: (limit) => fromLoaded(loaded, { kind: "history-newest", limit }),
        },
        blob: (ref) => {
          const kept = deps.blobs.peek(deps.owner, ref);
          return kept === undefined ? fromLoaded(loaded, { kind: "blob", ref }) : { kind: "value", value: kept.value };
        },
      };
    },
    load: async (visit, loads, into) => {
      for (const load of loads) into.set(loadKey(load), await bring(deps, visit, load));
    },
    contextOf: (place) => flatten(levels(place)),
    contextBlobs: (place) => levels(place).flatMap(({ scope }) => [...(scope?.values() ?? [])].filter(isBlobRef)),
    write: (writes, outputOf) => {
      for (const write of writes) scopeFor(scopes, write.scope).set(write.key, valueOf(write.value, outputOf));
    },
    close: (closed) => {
      for (const scope of closed) scopes.delete(scope);
    },
    openScope: async (scope) => {
      const rows = await deps.store.readContext(deps.sessionId, [scope]);
      const values = scopeFor(scopes, scope);
      for (const row of rows) values.set(row.key, await storedValue(deps.store, deps.sessionId, row.value));
      return rows;
    },
    bindLoop: (position, loop) => {
      loops.set(position, loop);
    },
    unbindLoop: (position) => {
      loops.delete(position);
    },
  };
}

/** A context value as JSON; an output is read from the journal row that has it. */
export async function storedValue(store: StateStore, sessionId: string, value: ContextValue): Promise<Json> {
  if (value.kind === "inline") return value.value;
  return outputOf(await store.readJournalRow(sessionId, value.position), sessionId, value.position);
}

export function outputOf(row: JournalRow | undefined, sessionId: string, position: string): Json {
  if (row?.result !== undefined && "output" in row.result) return row.result.output;
  throw storeError(
    "store_corrupt",
    `Session ${sessionId} refers to an output at ${position} that its journal does not have.`,
  );
}

export function historyEntry(row: JournalRow): HistoryEntry {
  const entry = {
    timestamp: row.finishedAt ?? row.startedAt,
    toolId: row.toolId,
    request: row.request,
    result: row.result ?? { error: { code: "outcome_unknown", message: "No result was recorded.", retryable: false } },
  };
  return row.stepId === undefined ? entry : { ...entry, planStepId: row.stepId };
}

const NOTHING_LOADED: ReadonlyMap<string, unknown> = new Map();

type Level = {
  readonly scope: Scope | undefined;
  readonly index?: number;
  readonly loop?: { readonly alias: string; readonly items: readonly Json[] } | undefined;
};

/** Innermost first; what a turn saved hides its item's alias. */
function lookUp(chain: readonly Level[], key: string): Json | undefined {
  for (let depth = chain.length - 1; depth >= 0; depth--) {
    const level = chain[depth];
    const saved = level?.scope?.get(key);
    if (saved !== undefined) return saved;
    if (level?.loop !== undefined && level.index !== undefined) {
      if (key === level.loop.alias) return level.loop.items[level.index];
      if (key === `${level.loop.alias}_index`) return level.index;
    }
  }
  return undefined;
}

function flatten(chain: readonly Level[]): Record<string, Json> {
  const context: Record<string, Json> = {};
  for (const { scope, loop, index } of chain) {
    if (loop !== undefined && index !== undefined) {
      const item = loop.items[index];
      if (item !== undefined) context[loop.alias] = item;
      context[`${loop.alias}_index`] = index;
    }
    if (scope !== undefined) for (const [key, value] of scope) context[key] = value;
  }
  return context;
}

function scopeFor(scopes: Map<string, Scope>, name: string): Scope {
  let scope = scopes.get(name);
  if (scope === undefined) {
    scope = new Map();
    scopes.set(name, scope);
  }
  return scope;
}

function valueOf(value: ContextValue, outputAt: (position: string) => Json | undefined): Json {
  if (value.kind === "inline") return value.value;
  const output = outputAt(value.position);
  if (output === undefined) throw new Error(`The output at ${value.position} is not at hand.`);
  return output;
}

function fromLoaded<T>(loaded: ReadonlyMap<string, unknown>, load: Load): Loaded<T> {
  const key = loadKey(load);
  if (!loaded.has(key)) return { kind: "missing", load };
  const value = loaded.get(key);
  return value === undefined ? { kind: "absent" } : { kind: "value", value: value as T };
}

async function bring(deps: RunDataDeps, visit: Placed, load: Load): Promise<unknown> {
  const query = {
    sessionId: deps.sessionId,
    ranges: visibleRanges(visit),
    settledOnly: true,
    order: "newest",
  } as const;
  switch (load.kind) {
    case "blob":
      return isBlobRef(load.ref) ? deps.blobs.load(deps.owner, load.ref) : undefined;
    case "history-at": {
      const [row] = await deps.store.readJournal({ ...query, offset: load.index, limit: 1 });
      return row === undefined ? undefined : historyEntry(row);
    }
    case "history-step":
      return (await deps.store.readJournal({ ...query, stepId: load.stepId, limit: HISTORY_SCAN_LIMIT })).map(
        historyEntry,
      );
    case "history-newest":
      return (await deps.store.readJournal({ ...query, limit: Math.min(load.limit, HISTORY_SCAN_LIMIT) })).map(
        historyEntry,
      );
  }
}
