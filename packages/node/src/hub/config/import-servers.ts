import type { MCPServerConfig } from "@ergon/core/hub";
import { parse, type ParseError } from "jsonc-parser";
import { z } from "zod";
import { notJson, placeOf, withoutMark } from "./json-text.ts";
import { fieldHere } from "./unknown-fields.ts";

export type ImportedServers = {
  readonly servers: readonly MCPServerConfig[];
  /** What a person should know: what was left out, and what has to be set. */
  readonly notes: readonly string[];
};

export const MAX_IMPORTED = 100;

/**
 * Reads servers as other hosts keep them: `mcpServers` (Claude, Cursor), those of `projects` (Claude) or `servers` with
 * `inputs` (VS Code). What is asked from a person there becomes a reference to the environment here.
 */
export function importServers(text: string): ImportedServers {
  const source = withoutMark(text);
  const faults: ParseError[] = [];
  const value: unknown = parse(source, faults, { allowTrailingComma: true });
  const [fault] = faults;
  if (fault !== undefined) return { servers: [], notes: [`${placeOf(source, fault.offset)}: ${notJson(fault)}`] };
  const file = Foreign.safeParse(value);
  if (!file.success)
    return { servers: [], notes: ["This is no file of MCP servers: it has neither mcpServers nor servers."] };
  const notes: string[] = [];
  const servers: MCPServerConfig[] = [];
  const found = foundIn(file.data, notes);
  if (found.length === 0) notes.push("There are no MCP servers in it.");
  const tooMany = found.slice(MAX_IMPORTED).length;
  if (tooMany > 0) notes.push(`${String(tooMany)} were left out: ${String(MAX_IMPORTED)} at once is the limit.`);
  for (const { name, server, folder } of found.slice(0, MAX_IMPORTED)) {
    const parsed = ForeignServer.safeParse(server);
    if (!parsed.success) {
      notes.push(`"${name}" was left out: ${parsed.error.issues[0]?.message ?? "it cannot be read"}.`);
      continue;
    }
    const { command, args, env, url, serverUrl, headers, envFile, disabled } = parsed.data;
    const address = url ?? serverUrl;
    if ((command === undefined) === (address === undefined)) {
      notes.push(`"${name}" was left out: it has ${command === undefined ? "neither" : "both"} a command and a url.`);
      continue;
    }
    notes.push(...leftOut(name, parsed.data));
    const cwd = parsed.data.cwd ?? (command === undefined ? undefined : folder);
    if (envFile !== undefined)
      notes.push(`"${name}" has an envFile, which is not read here: write the variables that it needs into its "env".`);
    const ask = (written: string) =>
      written.replaceAll(/\$\{input:([^}]+)\}/g, (_, input: string) => asked(name, input, notes));
    const record = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([key, written]) => [key, ask(written)]));
    servers.push({
      id: name.slice(0, 64),
      name: name.slice(0, 64),
      ...(command === undefined ? {} : { command, args: (args ?? []).map(ask) }),
      ...(address === undefined ? {} : { url: address }),
      ...(env === undefined ? {} : { env: record(env) }),
      ...(headers === undefined ? {} : { headers: record(headers) }),
      ...(cwd === undefined ? {} : { cwd }),
      enabled: disabled !== true,
    });
  }
  return { servers, notes };
}

/** Those that say only how it is reached, which the entry says anyway. */
const IMPLIED: ReadonlySet<string> = new Set(["type", "transport", "name", "description"]);
const MAX_NAMED_FIELDS = 10;

/** Fields that were not taken over, such as what another program allows without asking. */
function leftOut(name: string, server: object): readonly string[] {
  const left = Object.keys(server).filter((field) => !Object.hasOwn(ForeignServer.shape, field) && !IMPLIED.has(field));
  if (left.length === 0) return [];
  const named = left.slice(0, MAX_NAMED_FIELDS).map((field) => {
    const here = fieldHere(field);
    return here === undefined ? `"${field}"` : `"${field}" (${here})`;
  });
  const more = left.length > MAX_NAMED_FIELDS ? `, and ${String(left.length - MAX_NAMED_FIELDS)} more` : "";
  return [`"${name}" was taken without ${named.join(", ")}${more}.`];
}

type FoundServer = { readonly name: string; readonly server: unknown; /** Its project's. */ readonly folder?: string };

/** One of each name: those that are for all projects first. */
function foundIn({ mcpServers, servers, mcp, projects = {} }: Foreign, notes: string[]): readonly FoundServer[] {
  const found = new Map<string, FoundServer>();
  for (const [name, server] of Object.entries(mcpServers ?? servers ?? mcp?.servers ?? {}))
    found.set(name, { name, server });
  for (const [folder, project] of Object.entries(projects)) {
    for (const [name, server] of Object.entries(project.mcpServers ?? {})) {
      const other = found.get(name);
      if (other === undefined) found.set(name, { name, server, folder });
      else notes.push(`"${name}" of ${folder} was left out: there is one in ${other.folder ?? "mcpServers"} already.`);
    }
  }
  return [...found.values()];
}

function asked(name: string, input: string, notes: string[]): string {
  const variable = input.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  notes.push(`"${name}" asks for "${input}": set ${variable} in the environment.`);
  return `\${${variable}}`;
}

const Named = z.record(z.string(), z.unknown());
const Foreign = z
  .looseObject({
    mcpServers: Named.optional(),
    servers: Named.optional(),
    mcp: z.looseObject({ servers: Named.optional() }).optional(),
    projects: z.record(z.string(), z.looseObject({ mcpServers: Named.optional() })).optional(),
  })
  .refine(
    ({ mcpServers, servers, mcp, projects }) => (mcpServers ?? servers ?? mcp?.servers ?? projects) !== undefined,
  );
type Foreign = z.infer<typeof Foreign>;

const Texts = z.record(z.string(), z.coerce.string());
const ForeignServer = z.looseObject({
  command: z.string().min(1).optional(),
  args: z.array(z.coerce.string()).optional(),
  env: Texts.optional(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
  headers: Texts.optional(),
  cwd: z.string().optional(),
  envFile: z.unknown().optional(),
  disabled: z.boolean().optional(),
});
