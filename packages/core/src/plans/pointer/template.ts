import { planError } from "../../errors/plan.ts";
import type { Json } from "../../schema/values/json.ts";
import { type CompiledPointer, compilePointer } from "./compile.ts";
import { childPath } from "./json-location.ts";
import { isList, isObject } from "./json-shape.ts";
import { tooDeep } from "./limit-error.ts";
import { MAX_POINTER_DEPTH } from "./limits.ts";
import { asText, splitMessage } from "./message.ts";
import { type Found, type Needs, needs, type PointerOptions, seek } from "./resolve.ts";
import type { PointerView } from "./view.ts";
import { createWalk, MISSING, type Walk } from "./walk.ts";

/** A value with its pointers compiled. A part that holds none is kept as it is, and costs nothing to resolve. */
export type CompiledTemplate =
  | { readonly kind: "literal"; readonly value: unknown }
  | PointerTemplate
  | { readonly kind: "list"; readonly items: readonly CompiledTemplate[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, CompiledTemplate])[] }
  | { readonly kind: "text"; readonly parts: readonly (string | PointerTemplate)[] };

type PointerTemplate = {
  readonly kind: "pointer";
  readonly pointer: CompiledPointer;
  readonly first: boolean;
  /** Taken as it is written: a default is never a pointer. */
  readonly fallback: { readonly value: unknown } | undefined;
  /** Where in the template the pointer stands, as a JSONPath. */
  readonly where: string;
};

/**
 * For a step's `arguments` and a condition's sides. An object with exactly the keys of a pointer (`jsonPath`, and
 * perhaps `first` and `default`) is one; every other object is data, and so are strings.
 */
export function compileTemplate(value: unknown): CompiledTemplate {
  return compile(value, { where: "$", depth: 0, texts: false });
}

/** For messages: as a template, and strings may hold `{{$.path}}` (see `splitMessage`). A string stays a string. */
export function compileMessage(value: unknown): CompiledTemplate {
  return compile(value, { where: "$", depth: 0, texts: true });
}

export type TemplateOptions = Pick<PointerOptions, "deref">;

/** Throws `pointer_unresolved` {jsonPath, where} for a pointer without a default that finds nothing. */
export function resolveTemplate(
  template: CompiledTemplate,
  view: PointerView,
  options: TemplateOptions = {},
): Found | Needs {
  const walk = createWalk(view);
  const value = fill(walk, template, options);
  return walk.misses > 0 ? needs(walk) : { kind: "value", value: value as Json };
}

/** A pointer as a plan writes it, or undefined when the value is not exactly one. */
export function asPointer(value: unknown): WrittenPointer | undefined {
  if (!isObject(value) || typeof value["jsonPath"] !== "string") return undefined;
  const { first } = value;
  if (first !== undefined && typeof first !== "boolean") return undefined;
  for (const key of Object.keys(value)) if (!POINTER_KEYS.has(key)) return undefined;
  const fallback = Object.hasOwn(value, "default") ? { value: value["default"] } : undefined;
  return { jsonPath: value["jsonPath"], first: first ?? false, fallback };
}

export type WrittenPointer = Pick<PointerTemplate, "first" | "fallback"> & { readonly jsonPath: string };

/** Fills a template as a part of a larger attempt. The result is worthless once the walk has misses. */
export function fill(walk: Walk, template: CompiledTemplate, options: TemplateOptions): unknown {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "pointer":
      return fillPointer(walk, template, options);
    case "list":
      return template.items.map((item) => fill(walk, item, options));
    case "object":
      return Object.fromEntries(template.entries.map(([key, entry]) => [key, fill(walk, entry, options)] as const));
    case "text":
      return fillText(walk, template.parts);
  }
}

const POINTER_KEYS = new Set(["jsonPath", "first", "default"]);

type Place = { readonly where: string; readonly depth: number; readonly texts: boolean };

function compile(value: unknown, place: Place): CompiledTemplate {
  if (place.depth > MAX_POINTER_DEPTH) throw tooDeep();
  if (typeof value === "string") return place.texts ? compileText(value, place) : { kind: "literal", value };
  const written = asPointer(value);
  if (written !== undefined) return pointerAt(written, place.where);
  if (isList(value)) {
    const items = value.map((item, at) => compile(item, inside(place, at)));
    return items.every((item, at) => isUnchanged(item, value[at]))
      ? { kind: "literal", value }
      : { kind: "list", items };
  }
  if (!isObject(value)) return { kind: "literal", value };
  const entries = Object.entries(value).map(([key, item]) => [key, compile(item, inside(place, key))] as const);
  const unchanged = entries.every(([key, entry]) => isUnchanged(entry, value[key]));
  return unchanged ? { kind: "literal", value } : { kind: "object", entries };
}

function pointerAt({ jsonPath, first, fallback }: WrittenPointer, where: string): PointerTemplate {
  return { kind: "pointer", pointer: compilePointer(jsonPath), first, fallback, where };
}

function compileText(message: string, { where }: Place): CompiledTemplate {
  const parts = splitMessage(message).map((part) =>
    part.kind === "text" ? part.text : pointerAt({ jsonPath: part.jsonPath, first: false, fallback: undefined }, where),
  );
  if (parts.every((part) => typeof part === "string")) return { kind: "literal", value: parts.join("") };
  return { kind: "text", parts };
}

function inside(place: Place, key: string | number): Place {
  return { ...place, where: childPath(place.where, key), depth: place.depth + 1 };
}

function isUnchanged(template: CompiledTemplate, value: unknown): boolean {
  return template.kind === "literal" && template.value === value;
}

function fillPointer(walk: Walk, template: PointerTemplate, options: TemplateOptions): unknown {
  const value = seek(walk, template.pointer, { ...options, first: template.first });
  if (value !== undefined) return value;
  if (template.fallback !== undefined) return template.fallback.value;
  const { source } = template.pointer;
  throw planError("pointer_unresolved", `Nothing is at "${source}" (pointer at ${template.where}).`, {
    details: { jsonPath: source, where: template.where },
  });
}

function fillText(walk: Walk, parts: readonly (string | PointerTemplate)[]): string {
  let text = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : fillPointer(walk, part, {});
    if (value !== MISSING) text += asText(value);
  }
  return text;
}
