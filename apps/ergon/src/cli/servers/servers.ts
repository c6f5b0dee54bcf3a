import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type JsonObject, toErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { type HubServerStatus, MCPServerConfig, type ServerQuestion } from "@ergon/core/hub";
import { importServers, type ServerAdmin, type ServersList } from "@ergon/node";
import type { App } from "../../workspace/app.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { describeFence, fenceServer, type FenceWish } from "../../hub/fence-server.ts";
import { printOffers } from "../output/print-offers.ts";
import { oneLine, printable } from "../output/printable.ts";
import { startProgressLine } from "../output/progress-line.ts";
import { table } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { readArgs } from "../read-args.ts";
import { throughOwner } from "../../workspace/through-owner.ts";

export async function listServers(context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { items, file, problems } = await look(context, (servers) => servers.list(), emptyList);
  if (terminal.json) {
    terminal.printJson({ items, file, problems });
    return EXIT.ok;
  }
  if (items.length === 0)
    terminal.note(
      `No MCP servers. Add one: ${terminal.command} servers add ID -- COMMAND, or: ${terminal.command} servers import FILE`,
    );
  else printServers(terminal, items);
  for (const { place, message } of problems) terminal.warn(printable(`${file}:${place}: ${message}`));
  return EXIT.ok;
}

export type AddServer = FenceWish & {
  readonly id: string;
  readonly words: readonly string[];
  readonly url?: string;
  readonly name?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly timeoutMs?: string;
  readonly trusted?: boolean;
  readonly disabled?: boolean;
};

export async function addServer(context: CommandContext, options: AddServer): Promise<ExitCode> {
  const { config, unfenced } = await fenceServer(configFrom(options), options);
  const status = await withServerAdmin(context, `starting ${options.id}`, (servers) => servers.add(config));
  const code = report(context.terminal, status);
  if (!context.terminal.json && config.command !== undefined) context.terminal.note(describeFence(config, unfenced));
  return code;
}

export async function removeServer(context: CommandContext, id: string): Promise<ExitCode> {
  await withServerAdmin(context, `ending ${id}`, (servers) => servers.remove(id));
  if (context.terminal.json) context.terminal.printJson({ removed: id });
  else context.terminal.print(`server ${id} removed`);
  return EXIT.ok;
}

export async function approveServer(context: CommandContext, id: string): Promise<ExitCode> {
  return report(context.terminal, await withServerAdmin(context, `starting ${id}`, (servers) => servers.approve(id)));
}

export async function testServer(context: CommandContext, id: string): Promise<ExitCode> {
  const { terminal, signal } = context;
  const test = await withServerAdmin(context, `trying ${id}`, (servers) => servers.test(id, signal));
  if (terminal.json) terminal.printJson(test);
  else {
    const { server, readyMs = 0, tools, log } = test;
    printServers(terminal, [server]);
    printNotes(terminal, server);
    if (test.ok) terminal.print(`ready after ${String(readyMs)} ms: ${tools.map(oneLine).join(", ")}`);
    else for (const line of log.slice(-SHOWN_LOG_LINES)) terminal.note(`  ${printable(line)}`);
  }
  return test.ok ? EXIT.ok : EXIT.failed;
}

/** Servers that cannot be taken in are told of; the others are. */
export async function importFrom(context: CommandContext, file: string): Promise<ExitCode> {
  const { terminal } = context;
  const text = await readFile(file, "utf8").catch((thrown: unknown) => {
    throw usageError("input_invalid", `${file} cannot be read: ${toErgonError(thrown, "").message}`);
  });
  const { servers: found, notes } = importServers(text);
  const problems = [...notes];
  const added = await withServerAdmin(context, "importing", async (servers) => {
    const imported: HubServerStatus[] = [];
    for (const config of found) {
      try {
        imported.push(await servers.add(config));
      } catch (thrown) {
        problems.push(`"${config.id}" was left out: ${toErgonError(thrown, "internal").message}`);
      }
    }
    return imported;
  });
  if (terminal.json) terminal.printJson({ items: added, notes: problems });
  else {
    if (added.length > 0) printServers(terminal, added);
    for (const status of added.filter(isMissing)) terminal.note(notThere(terminal, status));
    for (const note of problems) terminal.note(printable(note));
  }
  return added.length === 0 ? EXIT.failed : EXIT.ok;
}

export async function showStats(context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const stats = await look(
    context,
    (servers) => servers.stats(),
    () => ({ servers: [], tools: [] }),
  );
  if (terminal.json) {
    terminal.printJson(stats);
    return EXIT.ok;
  }
  if (stats.tools.length === 0) {
    terminal.note("No calls of servers' tools yet.");
    return EXIT.ok;
  }
  const rows = stats.tools.map(({ tool, calls, successRate, p50Ms, p95Ms, p50Energy, errors }) => [
    tool,
    String(calls),
    `${String(Math.round(successRate * 100))}%`,
    inMs(p50Ms),
    inMs(p95Ms),
    p50Energy === null ? "" : p50Energy.toFixed(3),
    Object.entries(errors)
      .map(([code, times]) => `${code} ${String(times)}`)
      .join(", "),
  ]);
  const header = ["TOOL", "CALLS", "FINE", "P50", "P95", "ENERGY", "ERRORS"];
  terminal.print(
    table(
      rows.map((row) => row.map(oneLine)),
      { columns: terminal.columns, header },
    ),
  );
  return EXIT.ok;
}

/** What a server offers to read, or what stands there. */
export async function showResources(context: CommandContext, id: string, uri: string | undefined): Promise<ExitCode> {
  return answer(context, id, uri === undefined ? { kind: "resources" } : { kind: "resource", uri });
}

/** What a server offers to begin a talk with, or one of these filled in. */
export async function showPrompts(
  context: CommandContext,
  id: string,
  { name, args }: { readonly name: string | undefined; readonly args: string },
): Promise<ExitCode> {
  if (name === undefined) return answer(context, id, { kind: "prompts" });
  const given = Object.entries((await readArgs(args, process.stdin)) as JsonObject);
  const texts = given.map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)] as const);
  return answer(context, id, { kind: "prompt", name, args: Object.fromEntries(texts) });
}

async function answer(context: CommandContext, id: string, question: ServerQuestion): Promise<ExitCode> {
  const { terminal, signal } = context;
  const said = await withServerAdmin(context, `asking ${id}`, (servers) => servers.ask(id, question, signal));
  if (terminal.json) terminal.printJson(said);
  else if (question.kind === "resources" || question.kind === "prompts") printOffers(terminal, question.kind, said);
  else terminal.print(printable(JSON.stringify(said, undefined, 2)));
  return EXIT.ok;
}

const SHOWN_LOG_LINES = 20;

/** Does work on whoever owns the data folder; a server may take its time. */
async function withServerAdmin<T>(
  { terminal, compose }: CommandContext,
  doing: string,
  work: (servers: ServerAdmin) => Promise<T>,
): Promise<T> {
  const app: App = await compose();
  const progress = startProgressLine(terminal, doing);
  try {
    return await throughOwner(app, { recover: false, repeatable: false }, ({ servers }) => work(servers));
  } finally {
    progress.stop();
    await app.close();
  }
}

/** Where there is neither a configuration nor a data folder there is nothing to see, and none is made. */
async function look<T>(
  context: CommandContext,
  work: (servers: ServerAdmin) => Promise<T>,
  nothing: (app: App) => T,
): Promise<T> {
  const app = await context.compose();
  const isAbsent = !app.hasServers() && (await app.inspectData()).state === "absent";
  return isAbsent
    ? nothing(app)
    : withServerAdmin({ ...context, compose: async () => app }, "asking the servers", work);
}

function emptyList({ settings }: App): ServersList {
  return { items: [], file: settings.values.mcpConfig, problems: [] };
}

function configFrom(options: AddServer): MCPServerConfig {
  const { id, words, url, name = id, env, header, cwd, timeoutMs, trusted, disabled } = options;
  const [command, ...args] = words;
  if ((command === undefined) === (url === undefined)) {
    const message = `Say how "${id}" is reached: after -- the command that starts it, or --url with its address.`;
    throw usageError("usage", message);
  }
  const given = {
    id,
    name,
    ...(command === undefined ? {} : { command, args }),
    ...(url === undefined ? {} : { url }),
    ...(env === undefined ? {} : { env: pairs(env, "=", "--env NAME=VALUE") }),
    ...(header === undefined ? {} : { headers: pairs(header, ":", "--header NAME:VALUE") }),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs: Number(timeoutMs) }),
    ...(trusted === true ? { trusted } : {}),
    enabled: disabled !== true,
  };
  const parsed = MCPServerConfig.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageError("usage", `This is no server: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}.`);
}

function pairs(given: readonly string[], sign: string, form: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(sign);
      if (at < 1) throw usageError("usage", `"${pair.slice(0, Math.max(at, 0))}…" is not ${form}.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** It is kept whatever came of its start: what is wrong may be elsewhere, and a typed command is not lost. */
function report(terminal: Terminal, status: HubServerStatus): ExitCode {
  if (terminal.json) terminal.printJson(status);
  else {
    printServers(terminal, [status]);
    printNotes(terminal, status);
  }
  if (!isMissing(status)) return EXIT.ok;
  if (!terminal.json) terminal.note(notThere(terminal, status));
  return EXIT.failed;
}

function isMissing({ connected, state }: HubServerStatus): boolean {
  return !connected && state !== "disabled";
}

function notThere({ errorColors, command }: Terminal, { id, state, errors }: HubServerStatus): string {
  const why = state === "starting" ? "It is still starting." : (errors.at(-1) ?? "It did not say why.");
  const said = `The server "${id}" is in the configuration, but it could not be started: ${why}`;
  const next = `Try it again with: ${command} servers test ${id}. Take it out with: ${command} servers remove ${id}.`;
  return `${errorColors.red("error:")} ${oneLine(said)}\n${oneLine(next)}`;
}

function printServers(terminal: Terminal, items: readonly HubServerStatus[]): void {
  const { colors, columns } = terminal;
  const rows = items.map(({ id, state, toolCount, version, errors, nextTryAt, needsApproval, fence }) => {
    const trouble = state === "ready" || state === "disabled" ? "" : (errors.at(-1) ?? "");
    const again = nextTryAt === undefined ? "" : ` (next try ${nextTryAt})`;
    const shown = needsApproval === true ? "unapproved" : state;
    const fenced = { none: "unfenced", limited: "fenced", remote: "" }[fence ?? "remote"];
    return [id, shown, String(toolCount), version ?? "", fenced, oneLine(`${trouble}${again}`)];
  });
  const paint = (cell: string, column: number, isHeader: boolean) =>
    isHeader ? colors.dim(cell) : column === 0 ? colors.bold(cell) : cell;
  terminal.print(table(rows, { columns, header: ["SERVER", "STATE", "TOOLS", "VERSION", "FENCE", ""], paint }));
}

function printNotes(terminal: Terminal, { notes = [] }: HubServerStatus): void {
  for (const note of notes) terminal.warn(oneLine(note));
}

function inMs(ms: number | null): string {
  return ms === null ? "" : `${ms.toFixed(1)} ms`;
}
