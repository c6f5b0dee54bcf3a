import type { Logger, ToolRegistry } from "@ergon/core";
import type { CapabilityProblem, FolderInspection, LoadedPlans, Settings } from "@ergon/node";
import type { DirectCall, DirectResult } from "./direct-call.ts";

/** What commands see of the wired program; each part is made when it is first asked for. */
export type App = {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly capabilities: () => Promise<Capabilities>;
  /** By whoever typed it: it counts as approved. Owns the data folder from the moment the gate has allowed it. */
  readonly callTool: (call: Omit<DirectCall, "caller"> & { readonly role?: string }) => Promise<DirectResult>;
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
