import { z } from "zod";

/*
 * What the registry of MCP servers says of a server (`server.json` of 2025-12-11), as far as Ergon reads it. Written by
 * strangers: every text and list is bounded, and nothing of it is run.
 */
const Text = z.string().max(2_000);
const Argument = z.object({
  type: z.enum(["positional", "named"]).optional(),
  name: Text.optional(),
  value: Text.optional(),
  default: Text.optional(),
  isRequired: z.boolean().optional(),
});
export type RegistryArgument = z.infer<typeof Argument>;

const EnvironmentVariable = z.object({
  name: z.string().max(200),
  description: Text.optional(),
  value: Text.optional(),
  default: Text.optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
});

export const RegistryPackage = z.object({
  registryType: z.string().max(50),
  identifier: z.string().min(1).max(500),
  version: z.string().max(255).optional(),
  runtimeHint: z.string().max(200).optional(),
  transport: z.object({ type: z.string().max(50) }),
  runtimeArguments: z.array(Argument).max(50).optional(),
  packageArguments: z.array(Argument).max(50).optional(),
  environmentVariables: z.array(EnvironmentVariable).max(50).optional(),
});
export type RegistryPackage = z.infer<typeof RegistryPackage>;

const RegistryServer = z.object({
  name: z.string().min(1).max(200),
  title: z.string().max(200).optional(),
  description: Text,
  version: z.string().min(1).max(255),
  repository: z.object({ url: Text.optional() }).optional(),
  packages: z.array(RegistryPackage).max(20).optional(),
  remotes: z
    .array(z.object({ type: z.string().max(50), url: Text }))
    .max(20)
    .optional(),
});

/** One version of a server, with the registry's own word on it. */
export const RegistryEntry = RegistryServer.extend({
  status: z.enum(["active", "deprecated", "deleted"]),
  publishedAt: z.string().max(50).optional(),
});
export type RegistryEntry = z.infer<typeof RegistryEntry>;

/** What a search shows of a server. */
export const FoundServer = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  version: z.string(),
  package: z.string().optional(),
  remote: z.string().optional(),
});
export type FoundServer = z.infer<typeof FoundServer>;
