import type { ToolRegistry } from "@ergon/core";
import type { CapabilityProblem, LoadedPlans } from "@ergon/node";

/** What the capability folders gave, and what is wrong with them. */
export type Capabilities = {
  readonly registry: ToolRegistry;
  readonly folders: readonly FolderReport[];
  /** Of all folders, in their order. */
  readonly problems: readonly CapabilityProblem[];
};

export type FolderReport = {
  readonly folder: string;
  readonly source: "builtin" | "named";
  readonly tools: number;
  readonly problems: readonly CapabilityProblem[];
  readonly plans: () => Promise<LoadedPlans>;
};
