import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { didYouMean, isErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { judgeFolder, processEnvironment, stateFolder } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export type InstallOptions = {
  readonly data?: string;
  readonly capabilities?: readonly string[];
  readonly client?: string;
  readonly print?: boolean;
  readonly file?: string;
  /** Whether the client's user may approve calls in its forms. Absent: the person is asked on a terminal, else no. */
  readonly mayApprove?: boolean;
};

/** Writes Ergon into an MCP client's configuration, beside whatever is there already. Twice is the same as once. */
export async function installMcp({ terminal, signal }: CommandContext, options: InstallOptions): Promise<ExitCode> {
  const client = clientOf(options.client);
  const { key, file: usual } = CLIENTS[client];
  const canAsk = process.stdin.isTTY && terminal.canShowProgress && !terminal.json && options.print !== true;
  const mayApprove = options.mayApprove ?? (canAsk && (await askMayApprove(client, signal)));
  const entry = entryFor(client, { ...options, mayApprove });
  if (options.print === true) {
    terminal.print(JSON.stringify({ [key]: { [ENTRY]: entry } }, undefined, 2));
    return EXIT.ok;
  }
  const file = resolve(options.file ?? usual());
  const before = await readConfig(file);
  const servers = objectAt(before.value, key, file);
  const changed = JSON.stringify(servers[ENTRY]) !== JSON.stringify(entry);
  let backup: string | undefined;
  if (changed) {
    if (before.text !== undefined) {
      backup = `${file}.before-ergon`;
      await copyFile(file, backup);
    }
    await writeWhole(file, { ...before.value, [key]: { ...servers, [ENTRY]: entry } });
  }
  if (terminal.json) terminal.printJson({ client, file, changed, entry, ...(backup === undefined ? {} : { backup }) });
  else {
    terminal.print(changed ? `${file} has Ergon now. Restart ${client} to use it.` : `${file} has Ergon already.`);
    if (backup !== undefined) terminal.note(`What it was before is in ${backup}.`);
  }
  return EXIT.ok;
}

type ClientName = keyof typeof CLIENTS;
const ENTRY = "ergon";

/** Where each client keeps its servers, and under which name. */
const CLIENTS = {
  claude: { key: "mcpServers", file: () => join(appData(), "Claude", "claude_desktop_config.json"), typed: false },
  "claude-code": { key: "mcpServers", file: () => join(homedir(), ".claude.json"), typed: true },
  cursor: { key: "mcpServers", file: () => join(homedir(), ".cursor", "mcp.json"), typed: false },
  vscode: { key: "servers", file: () => join(process.cwd(), ".vscode", "mcp.json"), typed: true },
} as const;

function clientOf(given: string | undefined): ClientName {
  const names = Object.keys(CLIENTS);
  const known = names.find((name) => name === given);
  if (known !== undefined) return known as ClientName;
  const which = given === undefined ? "Say which client" : `There is no client "${given}" here`;
  throw usageError("usage", `${which}: --client ${names.join(" | ")}.${didYouMean(given ?? "", names)}`);
}

async function askMayApprove(client: ClientName, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await lines.question(
      `Some calls wait for your approval. May they be approved in ${client}'s forms, too?\n` +
        `Say no if ${client} or an agent in it can answer forms without you. [y/N] `,
      { signal },
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

/** Absolute in every part: clients start it from anywhere, with a PATH of their own. */
function entryFor(
  client: ClientName,
  { data, capabilities = [], mayApprove }: InstallOptions,
): Record<string, unknown> {
  const { env } = processEnvironment();
  const { XDG_STATE_HOME: state } = env;
  const named = data ?? env["ERGON_DATA"];
  const folder = resolve(named ?? ".ergon");
  // The entry names it, so it is never asked about again.
  judgeFolder({ path: folder, isNamed: named !== undefined, stateFolder: stateFolder(env) });
  const packs = capabilities.flatMap((one) => ["--capabilities", resolve(one)]);
  const program = programOf(process.argv[1] ?? "");
  return {
    ...(CLIENTS[client].typed ? { type: "stdio" } : {}),
    command: process.execPath,
    args: [
      program,
      "mcp",
      "--name",
      client,
      "--data",
      folder,
      ...packs,
      ...(mayApprove === true ? ["--may-approve"] : []),
    ],
    env: {
      // Halves the start. It lies beside the program: a user who can write there could change the program as well.
      NODE_COMPILE_CACHE: join(dirname(program), ".cache"),
      // Clients pass little on, and without the same state folder it would not find a running server's token.
      ...(state === undefined ? {} : { XDG_STATE_HOME: state }),
    },
  };
}

/** What the launcher would start: this Node is the right one already, and a client waits for every millisecond. */
function programOf(started: string): string {
  const built = join(dirname(dirname(started)), "dist", "cli.js");
  return existsSync(built) ? built : started;
}

function appData(): string {
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support");
  if (process.platform === "win32") return process.env["APPDATA"] ?? join(homedir(), "AppData", "Roaming");
  return process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
}

type Config = { readonly text?: string; readonly value: Record<string, unknown> };

/** What cannot be read whole is left as it is: it is somebody's. */
async function readConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { value: {} };
    throw unreadable(file, error instanceof Error ? error.message : String(error));
  }
  if (text.trim() === "") return { text, value: {} };
  try {
    return { text, value: objectOf(JSON.parse(text), "it is no object", file) };
  } catch (error) {
    if (isErgonError(error)) throw error;
    throw unreadable(file, "it is not plain JSON (comments are not kept by programs)");
  }
}

function objectAt(value: Record<string, unknown>, key: string, file: string): Record<string, unknown> {
  return value[key] === undefined ? {} : objectOf(value[key], `"${key}" in it is no object`, file);
}

function objectOf(value: unknown, why: string, file: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw unreadable(file, why);
}

function unreadable(file: string, why: string): Error {
  return usageError(
    "input_invalid",
    `${file} was left as it is: ${why}. "ergon mcp install --print" shows what to put there.`,
  );
}

async function writeWhole(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${String(process.pid)}`;
  await writeFile(beside, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  await rename(beside, file);
}
