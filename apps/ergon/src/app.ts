import type { Logger, ToolRegistry } from "@ergon/core";
import type { CapabilityProblem, FolderInspection, LoadedPlans, Settings } from "@ergon/node";
import type { PlanBooks } from "./plan-shelf.ts";
import type { Entrance, Workplace } from "./workplace.ts";

/** What commands see of the wired program; each part is made when it is first asked for. */
export type App = {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly capabilities: () => Promise<Capabilities>;
  readonly plans: () => Promise<PlanBooks>;
  /** The data folder at work: ours, or through the process that owns it. Entered once; `leave` lets it be entered anew. */
  readonly enter: (entrance: Entrance) => Promise<Workplace>;
  readonly leave: () => Promise<void>;
  /** Looks at the data folder without changing anything in it. */
  readonly inspectData: () => Promise<FolderInspection & { readonly folder: string }>;
  /** Gives back the data folder and whatever else was taken. */
  readonly close: () => Promise<void>;
};

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
