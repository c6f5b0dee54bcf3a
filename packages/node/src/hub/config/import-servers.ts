import type { MCPServerConfig } from "@ergon/core";
import { parse } from "jsonc-parser";
import { z } from "zod";

export type ImportedServers = {
  readonly servers: readonly MCPServerConfig[];
  /** What a person should know: what was left out, and what has to be set. */
  readonly notes: readonly string[];
};

export const MAX_IMPORTED = 100;

/**
 * Reads servers as other hosts keep them: `mcpServers` (Claude, Cursor) or `servers` with `inputs` (VS Code). What is
 * asked from a person there becomes a reference to the environment here.
 */
export function importServers(text: string): ImportedServers {
  const file = Foreign.safeParse(parse(text, [], { allowTrailingComma: true }));
  if (!file.success)
    return { servers: [], notes: ["This is no file of MCP servers: it has neither mcpServers nor servers."] };
  const named = file.data.mcpServers ?? file.data.servers ?? file.data.mcp?.servers ?? {};
  const notes: string[] = [];
  const servers: MCPServerConfig[] = [];
  const found = Object.entries(named);
  const tooMany = found.slice(MAX_IMPORTED).length;
  if (tooMany > 0) notes.push(`${String(tooMany)} were left out: ${String(MAX_IMPORTED)} at once is the limit.`);
  for (const [name, server] of found.slice(0, MAX_IMPORTED)) {
    const parsed = ForeignServer.safeParse(server);
    if (!parsed.success) {
      notes.push(`"${name}" was left out: ${parsed.error.issues[0]?.message ?? "it cannot be read"}.`);
      continue;
    }
    const { command, args, env, url, serverUrl, headers, cwd, disabled } = parsed.data;
    const address = url ?? serverUrl;
    if ((command === undefined) === (address === undefined)) {
      notes.push(`"${name}" was left out: it has ${command === undefined ? "neither" : "both"} a command and a url.`);
      continue;
    }
    const ask = (value: string) =>
      value.replaceAll(/\$\{input:([^}]+)\}/g, (_, input: string) => asked(name, input, notes));
    const record = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, ask(value)]));
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
  })
  .refine(({ mcpServers, servers, mcp }) => (mcpServers ?? servers ?? mcp?.servers) !== undefined);

const Texts = z.record(z.string(), z.coerce.string());
const ForeignServer = z.looseObject({
  command: z.string().min(1).optional(),
  args: z.array(z.coerce.string()).optional(),
  env: Texts.optional(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
  headers: Texts.optional(),
  cwd: z.string().optional(),
  disabled: z.boolean().optional(),
});
