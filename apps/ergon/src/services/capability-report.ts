import type { ToolRegistry } from "@ergon/core";
import type { CapabilityProblem } from "@ergon/node";

/** What the capability folders gave, and what is wrong with them. */
export type Capabilities = {
  readonly registry: ToolRegistry;
  readonly folders: readonly FolderReport[];
  /** Of all folders, in their order. */
  readonly problems: readonly CapabilityProblem[];
};

/** A folder of capabilities: the packs that come with Ergon, or one that the user named. */
export type CapabilityPlace = { readonly folder: string; readonly source: "builtin" | "named" };

export type FolderReport = CapabilityPlace & {
  readonly tools: number;
  readonly problems: readonly CapabilityProblem[];
};
