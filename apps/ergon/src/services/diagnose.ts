import { statSync } from "node:fs";
import { join } from "node:path";
import { toErgonError } from "@ergon/core";
import { redactJson, type SandboxProfile } from "@ergon/core/schema";
import { fenceOf } from "@ergon/core/hub";
import { checkDatabase, isInstalled, limitedAccessMissing, openServersFile } from "@ergon/node";
import type { App } from "../workspace/app.ts";
import { DATABASE_NAME } from "../workspace/inspect-data.ts";
import { isNamed } from "../workspace/is-named.ts";
import { describeProblem } from "../cli/output/note-problems.ts";
import { ownerAnswers, ownerRefusal, ownerSilent } from "../workspace/watch-owner.ts";
import { plansIn } from "./plan-catalog.ts";

export type Diagnosis = {
  readonly ok: boolean;
  readonly version: string;
  readonly node: { readonly version: string; readonly path: string };
  readonly data: Awaited<ReturnType<App["inspectData"]>>;
  readonly database: ReturnType<App["inspectDatabase"]>;
  readonly capabilities: readonly FolderDiagnosis[];
  readonly tools: number;
  /** Where data tools may read. */
  readonly dataRoots: readonly string[];
  /** Which model plans and writes, or why none does. */
  readonly model: { readonly kind: "offline" | "model" | "broken"; readonly detail: string };
  /** The ways to run foreign code; none when the service that was named does not answer. */
  readonly sandbox: readonly SandboxProfile[];
  /** Whether servers can be started with limited access, and what is missing where they cannot. */
  readonly limitedAccess: {
    readonly available: boolean;
    readonly note: string;
    /** Servers that run with all of the user's rights. */
    readonly unfenced: readonly string[];
  };
  readonly settings: App["settings"]["entries"];
  /** Everything that is wrong, as sentences. */
  readonly problems: readonly string[];
};

export type FolderDiagnosis = {
  readonly folder: string;
  readonly source: "builtin" | "named";
  readonly tools: number;
  readonly plans: number;
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
};

/** Looks at everything that Ergon finds on this machine, and changes nothing. */
export async function diagnose(app: App, version: string): Promise<Diagnosis> {
  const [loaded, data] = await Promise.all([app.capabilities(), app.inspectData()]);
  const capabilities = await Promise.all(
    loaded.folders.map(async (report): Promise<FolderDiagnosis> => {
      const found = await plansIn(report);
      // What is wrong with the folder itself is found by both.
      const known = new Set(report.problems.map(describeProblem));
      const more = found.problems.filter((problem) => !known.has(describeProblem(problem)));
      return { ...report, plans: found.plans.length, problems: [...report.problems, ...more] };
    }),
  );
  const sandbox = await lookAtSandbox(app);
  const problems = [
    ...nodeProblems(process.versions.node),
    ...app.settings.problems.map(({ message }) => message),
    ...(app.model.kind === "broken" ? [app.model.problem] : []),
    ...(data.problem === undefined
      ? checkDatabase(join(data.folder, DATABASE_NAME), { isFree: data.state === "free" })
      : [data.problem]),
    ...(await ownerProblems(data)),
    ...capabilities.flatMap((folder) => folder.problems.map(describeProblem)),
    ...(await serversProblems(app)),
    ...app.dataRoots.filter((root) => !isFolder(root)).map(missingRoot),
    ...sandbox.problems,
  ];
  return redactJson({
    ok: problems.length === 0,
    version,
    node: { version: process.versions.node, path: process.execPath },
    data,
    database: app.inspectDatabase(),
    capabilities,
    tools: loaded.registry.list().length,
    dataRoots: app.dataRoots,
    model: describeModel(app.model),
    sandbox: sandbox.profiles,
    limitedAccess: await lookAtAccess(app),
    settings: app.settings.entries,
    problems,
  });
}

/** What the process that owns the folder says of itself, if it says anything. */
async function ownerProblems({ owner, folder: dataDir }: Diagnosis["data"]): Promise<readonly string[]> {
  if (owner?.url === undefined) return [];
  if (!(await ownerAnswers(owner))) return [ownerSilent({ ...owner, dataDir })];
  const reason = await ownerRefusal(owner);
  return reason === undefined ? [] : [`The process ${String(owner.pid)} that owns ${dataDir} is not ready: ${reason}`];
}

async function serversProblems({ settings }: App): Promise<readonly string[]> {
  const path = settings.values.mcpConfig;
  try {
    const { problems } = await openServersFile(path, { isFound: !isNamed(settings, "mcpConfig") }).read();
    return problems.map(({ place, message }) => `${path}:${place}: ${message}`);
  } catch (thrown) {
    return [toErgonError(thrown, "server_config_invalid").message];
  }
}

async function lookAtAccess({ settings }: App): Promise<Diagnosis["limitedAccess"]> {
  const missing = await limitedAccessMissing();
  // What cannot be read is among the problems.
  const { servers } = await openServersFile(settings.values.mcpConfig)
    .read()
    .catch(() => ({ servers: [] }));
  const unfenced = servers.flatMap((server) => (fenceOf(server).fence === "none" && server.enabled ? [server.id] : []));
  const note = missing ?? 'servers with an "access" start behind bubblewrap';
  return { available: missing === undefined, note, unfenced };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function missingRoot(root: string): string {
  return `ERGON_DATA_ROOTS names ${root}, which is no folder: data tools read nothing there.`;
}

function describeModel(choice: App["model"]): Diagnosis["model"] {
  const { kind } = choice;
  if (kind === "offline") return { kind, detail: choice.reason };
  if (kind === "broken") return { kind, detail: choice.problem };
  const { id, url } = choice.service;
  return { kind, detail: url === undefined ? id : `${id} at ${url}` };
}

type SandboxDiagnosis = { readonly profiles: readonly SandboxProfile[]; readonly problems: readonly string[] };

/** What a machine need not have is no problem, nor is an optional package; with that, the default profile has to work. */
async function lookAtSandbox(app: App): Promise<SandboxDiagnosis> {
  try {
    const profiles = await app.sandboxProfiles();
    const isWanted = isInstalled("@ergon/sandbox");
    const missing = profiles.filter(({ name, available }) => isWanted && name === "default" && !available);
    return { profiles, problems: missing.map(({ note }) => note) };
  } catch (thrown) {
    return { profiles: [], problems: [toErgonError(thrown, "sandbox_unavailable").message] };
  }
}

const OLDEST_NODE = [22, 18] as const;

function nodeProblems(version: string): string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return [];
  return [`Node ${version} is too old: Ergon needs ${OLDEST_NODE.join(".")} or newer.`];
}
