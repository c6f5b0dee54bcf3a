import type { MCPServerConfig } from "../schema/hub.ts";
import type { RegistryEntry } from "../schema/registry.ts";
import { argumentWords, givenValue, npmPackageOf } from "./judge-install.ts";

/**
 * The configuration of an installed server. Its command is ours: the entry gives only arguments of the package's own
 * program and names of variables. It starts shut off from the network and from all files but its own.
 */
export function deriveServer(
  entry: RegistryEntry,
  installed: { readonly id: string; readonly node: string; readonly program: string; readonly folder: string },
): MCPServerConfig {
  const chosen = npmPackageOf(entry);
  const { id, node, program, folder } = installed;
  const env = Object.fromEntries(
    (chosen?.environmentVariables ?? []).flatMap((variable): [string, string][] => {
      const value = givenValue(variable);
      if (value !== undefined && variable.isSecret !== true) return [[variable.name, value]];
      return variable.isRequired === true ? [[variable.name, `\${${variable.name}}`]] : [];
    }),
  );
  return {
    id,
    name: id,
    command: node,
    args: [program, ...(chosen?.packageArguments ?? []).flatMap(argumentWords)],
    ...(Object.keys(env).length === 0 ? {} : { env }),
    access: { read: [folder], network: false },
    enabled: false,
  };
}

/** A short name for a server of the registry: `io.github.someone/server-memory` becomes `memory`. */
export function shortServerId(name: string): string {
  const last = name.split("/").at(-1) ?? name;
  const plain = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replace(/^(?:mcp-)?(?:server-)?/, "")
    .replace(/-(?:mcp|server|mcp-server)$/, "")
    .replaceAll(/^-+|-+$/g, "");
  return (plain === "" ? last.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-") : plain).slice(0, 24);
}
