import type { JsonObject, Logger } from "@ergon/core";
import type { SandboxProfile } from "@ergon/core/schema";
import type { DryRun } from "@ergon/core/engine";
import type { LoginStore } from "@ergon/core/hub";
import type {
  FolderInspection,
  Found,
  ModelChoice,
  SandboxServer,
  SandboxServerOptions,
  Settings,
  SupabaseInspection,
} from "@ergon/node";
import type { Capabilities } from "../services/capability-report.ts";
import type { PlanCatalog } from "../services/plan-catalog.ts";
import type { OpenOptions, Workspace } from "./workspace.ts";

/** What commands see of the wired program; each part is made when it is first asked for. */
export type App = {
  readonly settings: Settings;
  /** Where data tools may read. */
  readonly dataRoots: readonly string[];
  /** Whether there is a configuration of MCP servers: then there may be more tools than are known here. */
  readonly hasServers: () => boolean;
  readonly model: ModelChoice;
  readonly logger: Logger;
  readonly capabilities: () => Promise<Capabilities>;
  readonly plans: () => Promise<PlanCatalog>;
  /** Throws what the gate would deny, before a data folder is made or asked; a tool may be known to its owner alone. */
  readonly checkCall: (call: {
    readonly toolId: string;
    readonly args: JsonObject;
    readonly role?: string;
  }) => Promise<void>;
  /**
   * Makes the tools of MCP servers known here that a plan names, so that it can be checked; they are not for calling. Says
   * of those that are not there, by their ids, why their servers do not have them.
   */
  readonly knowTools: (plan: unknown) => Promise<ReadonlyMap<string, string>>;
  /** Walks a plan with simulated effects; no data folder is made or asked. */
  readonly dryRun: DryRun;
  /**
   * The data folder at work: ours, or through the process that owns it. Entered once for all callers; `leave` lets it be
   * entered anew. A caller whose owner disappeared names the workspace: it is left once, by the first that noticed.
   */
  readonly enter: (openOptions: OpenOptions) => Promise<Workspace>;
  readonly leave: (gone?: Workspace) => Promise<void>;
  /** Throws `folder_untrusted` unless the data folder may be used; looks only. */
  readonly checkFolder: () => void;
  /** Where logins at MCP servers are kept. */
  readonly logins: () => Promise<LoginStore>;
  /** Makes the data folder when it is absent, for work beside its owner. */
  readonly prepareFolder: () => Promise<void>;
  /** What the data folder's server is entered with; undefined when none was made yet. */
  readonly firstToken: () => Promise<string | undefined>;
  /** Looks at the data folder without changing anything in it. */
  readonly inspectData: () => Promise<FolderInspection & { readonly folder: string }>;
  /** Which database the talent actions work on; looks without opening it. */
  readonly inspectDatabase: () => SupabaseInspection;
  /** The ways to run foreign code that there are here, or at the service that the settings name. */
  readonly sandboxProfiles: () => Promise<readonly SandboxProfile[]>;
  /** Searches this machine's copy of the registry of MCP servers. */
  readonly searchServers: (words: string, limit: number, signal: AbortSignal) => Promise<Found>;
  /** Serves the sub-agent's orders over the channel of this process, until that closes. */
  readonly serveSubAgent: () => Promise<void>;
  /** The sandbox as a service of its own. */
  readonly serveSandbox: (door: Pick<SandboxServerOptions, "host" | "port" | "token">) => Promise<SandboxServer>;
  /** Gives back the data folder and whatever else was taken. */
  readonly close: () => Promise<void>;
};
