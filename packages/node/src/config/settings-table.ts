import { DEFAULT_CORRECTION_BUDGET, MAX_CORRECTION_BUDGET } from "@ergon/core/engine";
import {
  choice,
  decimal,
  flag,
  matching,
  optional,
  path,
  pathList,
  type SettingKind,
  text,
  webUrl,
  wholeNumber,
  wordList,
} from "./setting-kind.ts";

export type SettingGroup =
  | "general"
  | "server"
  | "state"
  | "models"
  | "energy"
  | "loops"
  | "hub"
  | "sandbox"
  | "database";

/** A value that CONTRACT names but that this version refuses. */
type LaterValue = { readonly pattern: RegExp; readonly what: string };

export type Setting<T> = {
  readonly kind: SettingKind<T>;
  readonly env: string;
  readonly flag?: string;
  readonly group: SettingGroup;
  readonly description: string;
  readonly fallback: T;
  /** Never shown, and never read from a file. */
  readonly secret?: true;
  /** May not stand in the configuration file: the file is found through it. */
  readonly notInFile?: true;
  /** A list that is collected from all sources instead of taken from the strongest one. */
  readonly collected?: true;
  readonly later?: readonly LaterValue[];
};

const MODELS = /^(offline|[a-z0-9][a-z0-9._-]*\/[^\s,]+(,[a-z0-9][a-z0-9._-]*\/[^\s,]+)*)$/i;

/** Every setting, once. What CONTRACT's Environment section names is here; so is the flag that beats it. */
export const SETTINGS = {
  data: setting(path(), {
    env: "ERGON_DATA",
    flag: "--data",
    group: "general",
    fallback: ".ergon",
    notInFile: true,
    description: "the data folder",
  }),
  capabilities: setting(pathList(), {
    env: "ERGON_CAPABILITIES",
    flag: "--capabilities",
    group: "general",
    fallback: [],
    collected: true,
    description: "folders with your own tools, actions and plans",
  }),
  log: setting(choice("trace", "debug", "info", "warn", "error", "fatal", "silent"), {
    env: "ERGON_LOG",
    group: "general",
    fallback: "warn",
    description: "how much is logged (to stderr)",
  }),

  host: setting(matching(/^[A-Za-z0-9.:[\]-]+$/, "a host name or an address"), {
    env: "FSDD_MCP_HOST",
    flag: "--host",
    group: "server",
    fallback: "127.0.0.1",
    description: "where the server listens",
  }),
  port: setting(wholeNumber(0, 65_535), {
    env: "FSDD_MCP_PORT",
    flag: "--port",
    group: "server",
    fallback: 8000,
    description: "the server's port; 0 picks a free one",
  }),
  token: setting(optional(matching(/^[\x21-\x7e]+$/, "printable characters without spaces")), {
    env: "ERGON_TOKEN",
    flag: "--token",
    group: "server",
    fallback: undefined,
    secret: true,
    description: "the first token",
  }),
  allowedHosts: setting(wordList(/^[A-Za-z0-9.:[\]*-]+$/, 'host names separated by ","'), {
    env: "ERGON_ALLOWED_HOSTS",
    group: "server",
    fallback: [],
    description: "Host names that requests may carry",
  }),
  oauthIssuer: setting(optional(webUrl()), {
    env: "ERGON_OAUTH_ISSUER",
    group: "server",
    fallback: undefined,
    description: "who issues OAuth tokens",
  }),
  serverName: setting(text(), {
    env: "FSDD_MCP_SERVER_NAME",
    group: "server",
    fallback: "Loop Management Server",
    description: "the MCP server's name",
  }),
  debug: setting(flag(), {
    env: "FSDD_MCP_DEBUG",
    group: "server",
    fallback: false,
    description: "stack traces in MCP answers",
  }),

  store: setting(choice("sqlite:", "memory:"), {
    env: "ERGON_STORE",
    group: "state",
    fallback: "sqlite:",
    description: "where state is kept",
    later: [
      { pattern: /^postgres(ql)?:/i, what: "the Postgres store" },
      { pattern: /^rediss?:/i, what: "the Redis store" },
    ],
  }),
  blobs: setting(choice("file:"), {
    env: "ERGON_BLOBS",
    group: "state",
    fallback: "file:",
    description: "where large values are kept",
    later: [{ pattern: /^s3:/i, what: "the S3 blob store" }],
  }),
  engine: setting(choice("embedded"), {
    env: "ERGON_ENGINE",
    group: "state",
    fallback: "embedded",
    description: "what runs plans",
    later: [{ pattern: /^restate:/i, what: "the Restate engine" }],
  }),
  fsync: setting(choice("effects", "always"), {
    env: "ERGON_FSYNC",
    group: "state",
    fallback: "effects",
    description: "when a commit waits for the disk",
  }),
  corrections: setting(choice("auto", "ask", "off"), {
    env: "ERGON_CORRECTIONS",
    group: "state",
    fallback: "auto",
    description: "failed steps: corrected at once, after a person's yes, or left to a person",
  }),
  correctionBudget: setting(wholeNumber(1, MAX_CORRECTION_BUDGET), {
    env: "ERGON_CORRECTION_BUDGET",
    group: "state",
    fallback: DEFAULT_CORRECTION_BUDGET,
    description: "corrections that one session may have",
  }),
  dataRoots: setting(pathList(), {
    env: "ERGON_DATA_ROOTS",
    group: "state",
    fallback: [],
    description: "folders that data tools may read",
  }),

  model: setting(optional(matching(MODELS, "offline, or provider/model; several are separated by commas")), {
    env: "ERGON_MODEL",
    group: "models",
    fallback: undefined,
    description: "the language model; behind it cheaper ones, for when energy is low",
  }),
  modelUrl: setting(optional(webUrl()), {
    env: "ERGON_MODEL_URL",
    group: "models",
    fallback: undefined,
    description: "an OpenAI-compatible endpoint",
  }),
  embedder: setting(matching(/^(bundled|[a-z0-9][a-z0-9._-]*\/\S+)$/i, "bundled, or provider/model"), {
    env: "ERGON_EMBEDDER",
    group: "models",
    fallback: "bundled",
    description: "what turns texts into vectors",
  }),
  openaiKey: providerKey("OPENAI_API_KEY"),
  anthropicKey: providerKey("ANTHROPIC_API_KEY"),
  googleKey: providerKey("GOOGLE_GENERATIVE_AI_API_KEY"),
  mistralKey: providerKey("MISTRAL_API_KEY"),
  groqKey: providerKey("GROQ_API_KEY"),
  xaiKey: providerKey("XAI_API_KEY"),

  energyRate: setting(decimal(0, 1000), {
    env: "ERGON_ENERGY_RATE",
    group: "energy",
    fallback: 1,
    description: "units regained per idle second",
  }),
  energyCost: setting(decimal(0, 1000), {
    env: "ERGON_ENERGY_COST",
    group: "energy",
    fallback: 2,
    description: "units that a second of work costs",
  }),
  energyPause: setting(decimal(-50, 100), {
    env: "ERGON_ENERGY_PAUSE",
    group: "energy",
    fallback: 10,
    description: "below this level the sub-agent pauses",
  }),
  energyResume: setting(decimal(-50, 100), {
    env: "ERGON_ENERGY_RESUME",
    group: "energy",
    fallback: 20,
    description: "from this level on it goes on",
  }),
  idleReview: setting(decimal(0, 1_440), {
    env: "ERGON_IDLE_REVIEW",
    group: "energy",
    fallback: 0,
    description: "minutes of leisure after which a model looks at answered conversations again; 0 for never",
  }),
  energyLow: setting(choice("pause", "finish", "cancel"), {
    env: "ERGON_ENERGY_LOW",
    group: "energy",
    fallback: "pause",
    description: "what the sub-agent does then: pauses, finishes its request first, or cancels it",
  }),

  loopStore: setting(choice("memory", "sqlite"), {
    env: "ERGON_LOOP_STORE",
    group: "loops",
    fallback: "memory",
    description: "where refinement loops are kept",
  }),
  loopHistory: setting(wholeNumber(1, 1000), {
    env: "ERGON_LOOP_HISTORY",
    group: "loops",
    fallback: 10,
    description: "refinement loops kept per owner",
  }),
  loopPlanThreshold: threshold("PLAN", 85),
  loopSpecThreshold: threshold("SPEC", 85),
  loopBuildPlanThreshold: threshold("BUILD_PLAN", 80),
  loopBuildCodeThreshold: threshold("BUILD_CODE", 95),
  loopPlanMaxIterations: maxIterations("PLAN"),
  loopSpecMaxIterations: maxIterations("SPEC"),
  loopBuildPlanMaxIterations: maxIterations("BUILD_PLAN"),
  loopBuildCodeMaxIterations: maxIterations("BUILD_CODE"),

  mcpConfig: setting(path(), {
    env: "MCP_CONFIG_PATH",
    flag: "--mcp-config",
    group: "hub",
    fallback: "mcp-servers.json",
    description: "the MCP servers to connect to",
  }),
  mcpAutoDiscovery: setting(flag(), {
    env: "MCP_AUTO_DISCOVERY",
    group: "hub",
    fallback: false,
    description: "search the registry unasked when no tool fits",
  }),
  mcpToolApproval: setting(flag(), {
    env: "MCP_TOOL_APPROVAL",
    group: "hub",
    fallback: true,
    description: "ask before a server's tool runs",
  }),

  mcpRegistry: setting(webUrl(), {
    env: "ERGON_MCP_REGISTRY",
    group: "hub",
    fallback: "https://registry.modelcontextprotocol.io",
    description: "the registry in which servers are searched",
  }),

  sandboxUrl: setting(optional(webUrl()), {
    env: "ERGON_SANDBOX_URL",
    group: "sandbox",
    fallback: undefined,
    description: "a sandbox service elsewhere",
  }),
  sandboxToken: setting(optional(text()), {
    env: "ERGON_SANDBOX_TOKEN",
    group: "sandbox",
    fallback: undefined,
    secret: true,
    description: "its token",
  }),

  supabaseUrl: setting(optional(webUrl()), {
    env: "SUPABASE_URL",
    group: "database",
    fallback: undefined,
    description: "a hosted Supabase; without it an embedded one",
  }),
  supabaseServiceRoleKey: setting(optional(text()), {
    env: "SUPABASE_SERVICE_ROLE_KEY",
    group: "database",
    fallback: undefined,
    secret: true,
    description: "its key",
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [Name in SettingName]: (typeof SETTINGS)[Name]["fallback"] };

function setting<T>(kind: SettingKind<T>, rest: Omit<Setting<NoInfer<T>>, "kind">): Setting<T> {
  return { kind, ...rest };
}

function providerKey(env: string): Setting<string | undefined> {
  return setting(optional(text()), {
    env,
    group: "models",
    fallback: undefined,
    secret: true,
    description: "a model provider's key",
  });
}

function threshold(loop: string, fallback: number): Setting<number> {
  return setting(wholeNumber(1, 100), {
    env: `FSDD_LOOP_${loop}_THRESHOLD`,
    group: "loops",
    fallback,
    description: "the score that completes a loop",
  });
}

function maxIterations(loop: string): Setting<number> {
  return setting(wholeNumber(1, 20), {
    env: `FSDD_LOOP_${loop}_MAX_ITERATIONS`,
    group: "loops",
    fallback: 5,
    description: "refinements before a person is asked",
  });
}
