import { storeError } from "../../errors/store.ts";
import { type BlobRef, isBlobRef, JSON_MEDIA_TYPE } from "../../schema/blob.ts";
import { isList, isObject } from "./json-shape.ts";
import { pointerLimit, tooDeep } from "./limit-error.ts";
import {
  HISTORY_SCAN_LIMIT,
  MAX_POINTER_BYTES,
  MAX_POINTER_DEPTH,
  MAX_POINTER_LOADS,
  MAX_POINTER_WORK,
  MAX_REFERENCE_CHAIN,
} from "./limits.ts";
import type { Start } from "./query.ts";
import { type Load, type Loaded, loadKey, type PointerView } from "./view.ts";

/** One attempt to resolve: what it may spend, what it has spent, and what it found to be out of memory. */
export type Walk = {
  readonly view: PointerView;
  /** Counts every time that something was out of memory, also when it was asked for before. */
  misses: number;
  /** True while only the first node is wanted: then the first miss ends the search. */
  eager: boolean;
  work: number;
  /** Made when it is first needed: most pointers are a few hops inside one value. */
  notes: Notes | undefined;
};

type Notes = {
  readonly loads: Map<string, Load>;
  readonly followed: Set<string>;
  bytes: number;
  /** Bytes that references were replaced by, counted each time that one was. */
  placed: number;
  readonly starts: Map<Start, unknown>;
  readonly wholes: Map<string, Whole>;
};

type Whole = { readonly value: unknown; readonly work: number; readonly placed: number };

/** Stands for a value that is not in memory. `undefined` stands for one that does not exist. */
export const MISSING = Symbol("missing");

export function createWalk(view: PointerView): Walk {
  return { view, misses: 0, eager: false, work: 0, notes: undefined };
}

/** What the driver has to bring before the next attempt. */
export function loadsOf(walk: Walk): readonly Load[] {
  return [...notesOf(walk).loads.values()];
}

export function spend(walk: Walk, work: number): void {
  walk.work += work;
  if (walk.work > MAX_POINTER_WORK) {
    throw pointerLimit("work", "This pointer takes too long: narrow its path, or filter with a tool.");
  }
}

/** The value that a query starts from. */
export function startValue(walk: Walk, start: Start, current: unknown): unknown {
  switch (start.kind) {
    case "current":
      return current;
    case "context-key":
      return walk.view.context(start.key);
    case "prompt-input":
      return walk.view.promptInput;
    case "history-at":
      return received(walk, walk.view.history.at(start.index));
    case "history-step":
      return received(walk, walk.view.history.ofStep(start.stepId)) ?? [];
    case "history-newest":
      return received(walk, walk.view.history.newest(start.limit)) ?? [];
    case "context":
    case "all":
      return builtStart(walk, start);
  }
}

/** Follows references to JSON until there is something else; references to other media stay as they are. */
export function open(walk: Walk, value: unknown): unknown {
  let current = value;
  for (let followed = 0; isJsonRef(current); followed++) {
    if (followed === MAX_REFERENCE_CHAIN) {
      throw pointerLimit("references", `A blob reference leads to ${String(followed)} others in a row.`, {
        blobId: current.$blob,
      });
    }
    current = content(walk, current);
  }
  return current;
}

/** One hop of a path; only what a value owns is there. */
export function child(walk: Walk, value: unknown, hop: string | number): unknown {
  const subject = open(walk, value);
  if (typeof hop === "number") return isList(subject) ? subject.at(hop) : subject === MISSING ? MISSING : undefined;
  if (isObject(subject)) return Object.hasOwn(subject, hop) ? subject[hop] : undefined;
  return subject === MISSING ? MISSING : undefined;
}

/** The value with every reference to JSON in it replaced by its content. Shares whatever holds no reference. */
export function whole(walk: Walk, value: unknown, depth = 0): unknown {
  if (isList(value)) return wholeList(walk, value, depth);
  if (!isObject(value)) return value;
  return isJsonRef(value) ? wholeBlob(walk, value, depth) : wholeObject(walk, value, depth);
}

function notesOf(walk: Walk): Notes {
  walk.notes ??= { loads: new Map(), followed: new Set(), bytes: 0, placed: 0, starts: new Map(), wholes: new Map() };
  return walk.notes;
}

function builtStart(walk: Walk, start: Start): unknown {
  const { starts } = notesOf(walk);
  const known = starts.get(start);
  if (known !== undefined) return known;
  const { view } = walk;
  const keys = [...view.contextKeys()];
  const context = Object.fromEntries(keys.map((key) => [key, view.context(key)] as const));
  const built = start.kind === "context" ? context : wholeDocument(walk, context);
  if (built !== MISSING) starts.set(start, built);
  return built;
}

function wholeDocument(walk: Walk, context: unknown): unknown {
  const history = received(walk, walk.view.history.newest(HISTORY_SCAN_LIMIT)) ?? [];
  return history === MISSING ? MISSING : { context, history, promptInput: walk.view.promptInput };
}

function received<T>(walk: Walk, answer: Loaded<T>): T | undefined | typeof MISSING {
  switch (answer.kind) {
    case "value":
      return answer.value;
    case "absent":
      return undefined;
    case "missing":
      walk.misses += 1;
      notesOf(walk).loads.set(loadKey(answer.load), answer.load);
      return MISSING;
  }
}

function isJsonRef(value: unknown): value is BlobRef {
  if (!isBlobRef(value)) return false;
  const type = value.mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === JSON_MEDIA_TYPE || type.endsWith("+json");
}

function content(walk: Walk, ref: BlobRef): unknown {
  const notes = notesOf(walk);
  if (!notes.followed.has(ref.$blob)) {
    notes.followed.add(ref.$blob);
    notes.bytes += ref.bytes;
    if (notes.followed.size > MAX_POINTER_LOADS) {
      throw pointerLimit("loads", `A pointer may follow ${String(MAX_POINTER_LOADS)} blobs at most.`);
    }
    if (notes.bytes > MAX_POINTER_BYTES) throw tooManyBytes();
  }
  const value = received(walk, walk.view.blob(ref));
  if (value === undefined) {
    throw storeError("blob_not_found", `The blob ${ref.$blob} that a value refers to is gone.`, {
      details: { blobId: ref.$blob },
    });
  }
  return value;
}

/** A blob that is met again is not copied again, but it is paid for again: whoever writes the value out will pay. */
function wholeBlob(walk: Walk, ref: BlobRef, depth: number): unknown {
  const notes = notesOf(walk);
  const known = notes.wholes.get(ref.$blob);
  if (known !== undefined) {
    spend(walk, known.work);
    place(notes, known.placed);
    return known.value;
  }
  const opened = open(walk, ref);
  if (opened === MISSING) return MISSING;
  const { work } = walk;
  const { placed } = notes;
  place(notes, ref.bytes);
  const value = whole(walk, opened, depth + 1);
  notes.wholes.set(ref.$blob, { value, work: walk.work - work, placed: notes.placed - placed });
  return value;
}

function place(notes: Notes, bytes: number): void {
  notes.placed += bytes;
  if (notes.placed > MAX_POINTER_BYTES) throw tooManyBytes();
}

function tooManyBytes(): Error {
  return pointerLimit("bytes", `A pointer may bring in ${String(MAX_POINTER_BYTES)} bytes of blobs at most.`);
}

function wholeList(walk: Walk, list: readonly unknown[], depth: number): unknown {
  if (depth > MAX_POINTER_DEPTH) throw tooDeep();
  spend(walk, list.length);
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    const done = whole(walk, item, depth + 1);
    if (done === item) continue;
    copy ??= [...list];
    copy[at] = done;
  }
  return copy ?? list;
}

function wholeObject(walk: Walk, object: Readonly<Record<string, unknown>>, depth: number): unknown {
  if (depth > MAX_POINTER_DEPTH) throw tooDeep();
  const keys = Object.keys(object);
  spend(walk, keys.length);
  let changed: Map<string, unknown> | undefined;
  for (const key of keys) {
    const item = object[key];
    const done = whole(walk, item, depth + 1);
    if (done !== item) (changed ??= new Map<string, unknown>()).set(key, done);
  }
  // Built from entries: assignment would take a key named `__proto__` for the prototype.
  return changed === undefined ? object : Object.fromEntries([...Object.entries(object), ...changed]);
}
