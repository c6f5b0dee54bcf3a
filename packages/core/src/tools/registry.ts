import type { z } from "zod";
import { createCostModel, type CostModel } from "../energy/cost-model.ts";
import { registryError } from "../errors/registry.ts";
import type { ActionResponse } from "../schema/action.ts";
import type { ToolSummary } from "../schema/tool.ts";
import type { MCPActionV2 } from "./adapt/action.ts";
import { adaptTool, type ToolForm } from "./adapt/adapt-tool.ts";
import type { Provenance } from "./adapt/read-form.ts";
import type { ToolMetadata } from "./adapt/tool-metadata.ts";
import type { TypedTool } from "./adapt/typed-tool.ts";
import { type PureTool, pureTool } from "./adapt/pure-tool.ts";
import { createJsonSchemas, type JsonSchemas } from "./json-schema/json-schemas.ts";
import { isForRole, toolNotFound } from "./known-tools.ts";
import { plannerPrompt } from "./planner-prompt.ts";
import { type SpecTool, specTool } from "./spec-tool.ts";
import { summaryOf } from "./summary.ts";
import type { Tool } from "./tool.ts";

export const MAX_TOOLS = 10_000;

export type RegistryChange = { readonly kind: "added" | "removed"; readonly tool: Tool };

/** Spec 1's `ToolMetadata` of a registered tool, with what a planner or a person needs to choose it. */
export type ToolListing = Omit<ToolSummary, "outputSchema"> & Pick<SpecTool, "name" | "argsSchema" | "run">;

/** A registered action with what spec 2 reads of one; its tags and capability tags are one list. */
export type SpecAction = SpecTool<ActionResponse> & Pick<MCPActionV2, "capabilityTags">;

export type ToolFilter = {
  /** Only tools that this role may use. */
  readonly role?: string;
  /** Only these. */
  readonly ids?: readonly string[];
};

/**
 * Holds every tool that can be called, whatever form it was written in. The static methods are spec 1's and act on
 * one default registry, made when it is first asked for: the one deliberate global, used where no registry is passed.
 */
export class ToolRegistry {
  static #default: ToolRegistry | undefined;
  static readonly #always = new Map<string, Tool>();

  readonly #tools = new Map<string, Tool>();
  readonly #aliases = new Map<string, Tool>();
  readonly #internal = new Map<string, Tool>();
  readonly #absent = new Map<string, string>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();
  readonly #schemas: JsonSchemas;
  readonly #costs: CostModel;
  #sorted: readonly Tool[] | undefined;

  constructor(deps: { readonly costs?: CostModel; readonly schemas?: JsonSchemas } = {}) {
    this.#costs = deps.costs ?? createCostModel();
    this.#schemas = deps.schemas ?? createJsonSchemas();
  }

  /** Takes in a tool or refuses it with a typed error; a refusal changes nothing. */
  register<S extends z.ZodType>(tool: ToolMetadata<S>, from?: Provenance): Tool;
  register<S extends z.ZodType, O extends z.ZodType>(tool: TypedTool<string, S, O>, from?: Provenance): Tool;
  register<S extends z.ZodObject>(action: MCPActionV2<S>, from?: Provenance): Tool;
  register(form: ToolForm, from?: Provenance): Tool;
  register(form: unknown, from: Provenance = {}): Tool {
    return this.add(adaptTool(form, { ...from, schemas: this.#schemas }));
  }

  /** Takes in a tool of Ergon's own, whose form the tests look at. */
  registerOwn(tool: PureTool, { isInternal = false }: { readonly isInternal?: boolean } = {}): Tool {
    const made = pureTool(tool, { schemas: this.#schemas });
    return isInternal ? this.registerInternal(made) : this.add(made);
  }

  /** Takes in a tool that an adapter made: its form was checked then, and is not looked at again. */
  add(tool: Tool): Tool {
    for (const name of [tool.id, ...(tool.aliases ?? [])]) {
      const earlier = this.get(name);
      if (earlier !== undefined) throw duplicate(name, earlier, tool);
    }
    if (this.#tools.size >= MAX_TOOLS) {
      throw registryError("registry_full", `"${tool.id}" is one tool too many: ${String(MAX_TOOLS)} is the limit.`);
    }
    this.#tools.set(tool.id, tool);
    for (const alias of tool.aliases ?? []) this.#aliases.set(alias, tool);
    this.#changed({ kind: "added", tool });
    return tool;
  }

  /**
   * A tool of Ergon's own plans: it can be called by its id, and no list shows it to people or planners. One of the same
   * id takes the place of the one before.
   */
  registerInternal(tool: Tool): Tool {
    const earlier = this.#tools.get(tool.id) ?? this.#aliases.get(tool.id);
    if (earlier !== undefined) throw duplicate(tool.id, earlier, tool);
    this.#internal.set(tool.id, tool);
    return tool;
  }

  unregisterInternal(id: string): void {
    this.#internal.delete(id);
  }

  /** True when there was such a tool. */
  unregister(id: string): boolean {
    const tool = this.#tools.get(id);
    if (tool === undefined) return false;
    this.#tools.delete(id);
    for (const alias of tool.aliases ?? []) this.#aliases.delete(alias);
    this.#changed({ kind: "removed", tool });
    return true;
  }

  get(id: string): Tool | undefined {
    return this.#tools.get(id) ?? this.#aliases.get(id) ?? this.#internal.get(id);
  }

  /** For a tool that could be there: callers are told why it is not. */
  markAbsent(id: string, why: string): void {
    this.#absent.set(id, why);
  }

  whyAbsent(id: string): string | undefined {
    return this.#absent.get(id);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** Sorted by id. */
  list(filter: ToolFilter = {}): readonly Tool[] {
    this.#sorted ??= Object.freeze([...this.#tools.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    const { role, ids } = filter;
    if (role === undefined && ids === undefined) return this.#sorted;
    return this.#sorted.filter(
      (tool) => (ids === undefined || ids.includes(tool.id)) && (role === undefined || isForRole(tool, role)),
    );
  }

  summaries(filter: ToolFilter = {}): readonly ToolSummary[] {
    return this.list(filter).map((tool) => summaryOf(tool, this.#costs));
  }

  /** Throws `tool_not_found`, with the id that was most likely meant. */
  summary(id: string): ToolSummary {
    const tool = this.get(id);
    if (tool === undefined) throw toolNotFound(id, this);
    return summaryOf(tool, this.#costs);
  }

  getToolMetadataList(filter: ToolFilter = {}): ToolListing[] {
    return this.list(filter).map((tool) => {
      const { outputSchema: _shown, ...summary } = summaryOf(tool, this.#costs);
      const { name, argsSchema, run } = specTool(tool, this);
      return { ...summary, name, argsSchema, run };
    });
  }

  /** Spec 2's `actions` array, of the actions that are registered now. */
  get actions(): readonly SpecAction[] {
    const actions = this.list().filter(({ origin }) => origin === "action");
    return actions.map((tool) => ({ ...specTool<ActionResponse>(tool, this), capabilityTags: tool.tags }));
  }

  buildPlannerPromptWithPathways(filter: ToolFilter = {}): string {
    return plannerPrompt(this.list(filter));
  }

  /** Told after each change, and must not throw; returns the way to stop. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(change: RegistryChange): void {
    this.#sorted = undefined;
    for (const listener of this.#listeners) listener(change);
  }

  static get default(): ToolRegistry {
    ToolRegistry.#default ??= new ToolRegistry();
    return ToolRegistry.#default;
  }

  static register<S extends z.ZodType>(tool: ToolMetadata<S>, from?: Provenance): Tool;
  static register<S extends z.ZodType, O extends z.ZodType>(tool: TypedTool<string, S, O>, from?: Provenance): Tool;
  static register<S extends z.ZodObject>(action: MCPActionV2<S>, from?: Provenance): Tool;
  static register(form: ToolForm, from?: Provenance): Tool;
  static register(form: unknown, from?: Provenance): Tool {
    return ToolRegistry.default.register(form as ToolForm, from);
  }

  static unregister(id: string): boolean {
    return ToolRegistry.default.unregister(id);
  }

  /** A tool that `ToolRegistry.get` finds without being registered, and that no list shows. */
  static always(tool: Tool): void {
    ToolRegistry.#always.set(tool.id, tool);
  }

  /** With what spec 1 calls on a tool: `argsSchema`, `run` and `actionFn`. */
  static get(id: "finalize_summary"): SpecTool<string>;
  static get(id: string): SpecTool | undefined;
  static get(id: string): SpecTool | undefined {
    const find = (name: string) => ToolRegistry.default.get(name) ?? ToolRegistry.#always.get(name);
    const tool = find(id);
    return tool === undefined ? undefined : specTool(tool, { get: find, list: () => ToolRegistry.list() });
  }

  static has(id: string): boolean {
    return ToolRegistry.get(id) !== undefined;
  }

  static list(filter?: ToolFilter): readonly Tool[] {
    return ToolRegistry.default.list(filter);
  }

  static getToolMetadataList(filter?: ToolFilter): ToolListing[] {
    return ToolRegistry.default.getToolMetadataList(filter);
  }

  static get actions(): readonly SpecAction[] {
    return ToolRegistry.default.actions;
  }

  static buildPlannerPromptWithPathways(filter?: ToolFilter): string {
    return ToolRegistry.default.buildPlannerPromptWithPathways(filter);
  }
}

/** Spec 1's other name for it. */
export { ToolRegistry as ActionV2Registry };

/** Spec 4's name for what a registry offers to others. */
export type ICapabilityRegistry = Pick<ToolRegistry, "register" | "unregister" | "get" | "has" | "list">;

function duplicate(name: string, earlier: Tool, later: Tool): Error {
  const message = `There are two tools "${name}": one from ${placeOf(earlier)}, one from ${placeOf(later)}. Rename one of them.`;
  const details = { toolId: name, sources: [placeOf(earlier), placeOf(later)] };
  return registryError("tool_duplicate", message, { details });
}

function placeOf({ source, origin }: Tool): string {
  if (source !== undefined) return source;
  return origin === "registered" ? "a call of register" : `the ${origin}s`;
}
