import type { JsonSchema } from "../../../schema/values/json.ts";
import { indexKey, type ContextKeys, type KeyWrite } from "./context-keys.ts";
import type { StepNode } from "../outline.ts";
import type { JsonType } from "../partial/json-type.ts";
import { staticMember, staticTypes, UNKNOWN, type Nothing, type StaticValue } from "./static-value.ts";
import type { StepPointer } from "./step-pointers.ts";
import type { ToolIndex } from "../tool-index.ts";

/** A key that more steps write in different ways is not followed. */
export const MAX_PRODUCERS = 16;

export type Producers = {
  /** The types that a pointer can give; undefined when that is not known. Its default is not counted. */
  readonly typesOf: (pointer: StepPointer) => ReadonlySet<JsonType> | undefined;
  /** The first part of the pointer's path that nothing can be at, if there is one. */
  readonly deadEnd: (pointer: StepPointer) => DeadEnd | undefined;
};

type DeadEnd = { readonly hop: string | number; readonly known: readonly string[] };

export type ProducerParts = {
  readonly keys: ContextKeys;
  readonly tools: ToolIndex;
  /** Undefined when it is not a valid schema. */
  readonly parameters: JsonSchema | undefined;
  readonly pointersOf: (node: StepNode) => readonly StepPointer[];
};

/** Follows pointers back to what is known of the values that they point to: schemas of tools, inputs and people's answers. */
export function createProducers(parts: ProducerParts): Producers {
  const { keys, tools, parameters, pointersOf } = parts;
  const writes = new Map<string, readonly KeyWrite[] | undefined>();

  const valuesAt = (pointer: StepPointer): readonly StaticValue[] => {
    const { start } = pointer.pointer.query;
    if (start.kind === "prompt-input") {
      return parameters === undefined
        ? [UNKNOWN]
        : [{ kind: "schema", part: { root: parameters, schema: parameters } }];
    }
    return start.kind === "context-key" ? valuesOfKey(start.key, pointer.node) : [UNKNOWN];
  };

  const valuesOfKey = (key: string, reader: StepNode): readonly StaticValue[] => {
    for (let { owner } = reader.list; owner !== undefined; owner = owner.list.owner) {
      if (owner.form?.type !== "loop_over_items") continue;
      if (key === indexKey(owner.form.itemAlias)) return [NUMBER];
      if (key === owner.form.itemAlias) return itemsOf(owner);
    }
    const writers = writersOf(key);
    return writers === undefined ? [UNKNOWN] : writers.map((write) => seenFrom(reader, write));
  };

  const itemsOf = (loop: StepNode): readonly StaticValue[] => {
    const [collection] = pointersOf(loop);
    if (collection === undefined || !collection.pointer.singular || collection.hasDefault) return [UNKNOWN];
    return follow(valuesAt(collection), [...(collection.pointer.query.hops ?? []), 0]).values;
  };

  const writersOf = (key: string): readonly KeyWrite[] | undefined => {
    if (!writes.has(key)) writes.set(key, differentWrites(keys.writersOf(key)));
    return writes.get(key);
  };

  const seenFrom = (reader: StepNode, { node, isSaved, isError }: KeyWrite): StaticValue => {
    if (isError) return UNKNOWN;
    let value = writtenBy(node);
    if (!isSaved) return value;
    const around = new Set(holdersOf(reader));
    for (const holder of holdersOf(node)) {
      if (!around.has(holder) && holder.form?.type === "loop_over_items") value = { kind: "turns", of: value };
    }
    return value;
  };

  const writtenBy = ({ form }: StepNode): StaticValue => {
    if (form?.type === "human_in_the_loop" && form.inputSchema !== undefined) return ofSchema(form.inputSchema);
    if (form?.type !== "tool_call" || (form.alternatives ?? []).length > 0) return UNKNOWN;
    const schema = tools.get(form.toolId)?.outputSchema;
    return schema === undefined ? UNKNOWN : ofSchema(schema);
  };

  const ends = new Map<StepPointer, Followed>();
  const endOf = (pointer: StepPointer): Followed => {
    const known = ends.get(pointer) ?? follow(valuesAt(pointer), pointer.pointer.query.hops ?? []);
    ends.set(pointer, known);
    return known;
  };

  return {
    typesOf: (pointer) => {
      if (!pointer.pointer.singular) return pointer.first ? undefined : LIST;
      const { values } = endOf(pointer);
      return values.length === 0 ? undefined : unionOf(values.map(staticTypes));
    },
    deadEnd: (pointer) => (pointer.pointer.singular ? endOf(pointer).deadEnd : undefined),
  };
}

const LIST: ReadonlySet<JsonType> = new Set<JsonType>(["array"]);
const NUMBER: StaticValue = { kind: "types", types: new Set<JsonType>(["number"]) };

function ofSchema(schema: JsonSchema): StaticValue {
  return { kind: "schema", part: { root: schema, schema } };
}

type Followed = { readonly values: readonly StaticValue[]; readonly deadEnd?: DeadEnd };

/** Walks along a path from everything that may stand at its beginning; a dead end is one for all of them. */
function follow(starts: readonly StaticValue[], hops: readonly (string | number)[]): Followed {
  let values = starts;
  for (const hop of hops) {
    if (values.length === 0) break;
    const members = values.map((value) => staticMember(value, hop));
    values = members.filter((member): member is StaticValue => member.kind !== "nothing");
    if (values.length > 0) continue;
    const known = members.flatMap((member: StaticValue | Nothing) => (member.kind === "nothing" ? member.known : []));
    return { values, deadEnd: { hop, known } };
  }
  return { values };
}

function unionOf(all: readonly (ReadonlySet<JsonType> | undefined)[]): ReadonlySet<JsonType> | undefined {
  const union = new Set<JsonType>();
  for (const types of all) {
    if (types === undefined) return undefined;
    for (const type of types) union.add(type);
  }
  return union;
}

/** What comes by itself is the same from every step that calls the same tool; undefined when too many differ. */
function differentWrites(writes: readonly KeyWrite[]): readonly KeyWrite[] | undefined {
  const kept: KeyWrite[] = [];
  const seen = new Set<string>();
  for (const write of writes) {
    const { form } = write.node;
    const plain =
      !write.isSaved && !write.isError && form?.type === "tool_call" && (form.alternatives ?? []).length === 0;
    if (plain) {
      if (seen.has(form.toolId)) continue;
      seen.add(form.toolId);
    }
    kept.push(write);
    if (kept.length > MAX_PRODUCERS) return undefined;
  }
  return kept;
}

function holdersOf(node: StepNode): StepNode[] {
  const holders: StepNode[] = [];
  for (let { owner } = node.list; owner !== undefined; owner = owner.list.owner) holders.push(owner);
  return holders;
}
