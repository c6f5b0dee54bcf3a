/*
 * Decides whether a server of the registry may be installed. Pure: everything that is known comes in, every objection goes
 * out, in words that a person understands. What passes is still only tried under restrictions, and started for good only
 * when a person says so.
 */
import { z } from "zod";
import type { RegistryArgument, RegistryEntry, RegistryPackage } from "../schema/registry.ts";
import { showHidden } from "../approvals/hidden-text.ts";
import { lookAlike, WELL_KNOWN_PACKAGES } from "./look-alikes.ts";

export type Objection = { readonly code: ObjectionCode; readonly message: string };
type ObjectionCode =
  | "not_active"
  | "hidden_characters"
  | "no_npm_package"
  | "name_invalid"
  | "version_not_exact"
  | "look_alike"
  | "runtime_changed"
  | "environment_changed"
  | "value_missing"
  | "identity_unproven"
  | "integrity_unknown"
  | "too_young"
  | "no_program"
  | "dependency_source"
  | "dependency_unchecked"
  | "too_many_dependencies";

/** What the package's own registry says of the very version. */
export const PackageFacts = z.object({
  name: z.string(),
  version: z.string(),
  integrity: z.string().optional(),
  publishedAt: z.string().optional(),
  /** The server's name in the registry of servers, as the package claims it. */
  mcpName: z.string().optional(),
  /** The program that it brings, as a path inside it. */
  program: z.string().optional(),
  /** Scripts that an installation would run. They are never run. */
  installScripts: z.array(z.string()),
});
export type PackageFacts = z.infer<typeof PackageFacts>;

/** Most malicious releases were found within days. */
export const MIN_AGE_DAYS = 7;
const DAY_MS = 86_400_000;

/** The package that would be installed. */
export function npmPackageOf(entry: RegistryEntry): RegistryPackage | undefined {
  return entry.packages?.find(({ registryType, transport }) => registryType === "npm" && transport.type === "stdio");
}

/** What speaks against the entry, before anything is fetched. */
export function judgeEntry(
  entry: RegistryEntry,
  has: { readonly environment: ReadonlySet<string>; readonly servers: readonly string[] },
): readonly Objection[] {
  const objections: Objection[] = [];
  const object = (code: ObjectionCode, message: string): void => void objections.push({ code, message });
  const name = inLine(entry.name);
  if (entry.status !== "active") object("not_active", `The registry says that ${name} is ${entry.status}.`);
  for (const text of [
    entry.name,
    entry.title ?? "",
    entry.version,
    ...(entry.packages ?? []).map((p) => p.identifier),
  ]) {
    if (inLine(text) !== text || /[^\x20-\x7e]/.test(text))
      object("hidden_characters", `"${inLine(text)}" has characters that do not show or that pass for others.`);
  }
  const chosen = npmPackageOf(entry);
  if (chosen === undefined) {
    const kinds = (entry.packages ?? []).map(({ registryType }) => inLine(registryType)).join(", ");
    const offered = kinds === "" ? "" : ` It offers: ${kinds}.`;
    object("no_npm_package", `${name} has no npm package that speaks over pipes; only those are installed.${offered}`);
    return objections;
  }
  judgePackageName(chosen, has.servers, object);
  judgeRuntime(chosen, object);
  for (const given of [...(chosen.packageArguments ?? []), ...(chosen.environmentVariables ?? [])]) {
    const value = givenValue(given) ?? "";
    if (value.includes("${")) object("environment_changed", `It asks for "${inLine(value)}", a value of yours.`);
  }
  for (const variable of chosen.environmentVariables ?? []) {
    const shown = inLine(variable.name);
    if (!SAFE_VARIABLE.test(variable.name) || CHANGES_RUNTIME.test(variable.name))
      object("environment_changed", `It wants to set ${shown}, which changes how programs run.`);
    else if (variable.isRequired === true && givenValue(variable) === undefined && !has.environment.has(variable.name))
      object("value_missing", `It needs ${shown}, which is not set. Set it in Ergon's environment, then ask again.`);
  }
  return objections;
}

/** What speaks against the package, once its own registry has been asked. */
export function judgePackage(entry: RegistryEntry, facts: PackageFacts, nowMs: number): readonly Objection[] {
  const objections: Objection[] = [];
  const object = (code: ObjectionCode, message: string): void => void objections.push({ code, message });
  const label = `${facts.name}@${facts.version}`;
  if (facts.mcpName !== entry.name) {
    const claim = facts.mcpName === undefined ? "names no server" : `names the server ${inLine(facts.mcpName)}`;
    object(
      "identity_unproven",
      `${label} ${claim}, not ${inLine(entry.name)}: whoever made the entry need not own it.`,
    );
  }
  if (facts.integrity === undefined || !facts.integrity.startsWith("sha512-"))
    object("integrity_unknown", `The registry gives no sha512 of ${label}, so what arrives cannot be checked.`);
  if (facts.program === undefined)
    object("no_program", `${label} brings no program, or several without one of its own name.`);
  const publishedMs = Date.parse(facts.publishedAt ?? "");
  const days = (nowMs - publishedMs) / DAY_MS;
  if (!(days >= MIN_AGE_DAYS)) {
    const age = Number.isNaN(days) ? "an unknown time ago" : `${Math.max(0, days).toFixed(1)} days ago`;
    object("too_young", `${label} was published ${age}; a release must be ${String(MIN_AGE_DAYS)} days old.`);
  }
  return objections;
}

type Objecting = (code: ObjectionCode, message: string) => void;

function judgePackageName(
  { identifier, version }: RegistryPackage,
  servers: readonly string[],
  object: Objecting,
): void {
  const shown = inLine(identifier);
  if (!PACKAGE_NAME.test(identifier)) return object("name_invalid", `"${shown}" is not the name of an npm package.`);
  if (version === undefined || !EXACT_VERSION.test(version)) {
    const range = version === undefined ? "no version" : `"${inLine(version)}"`;
    object("version_not_exact", `${shown} is given with ${range}; only an exact version can be checked.`);
  }
  const other = lookAlike(identifier, [...WELL_KNOWN_PACKAGES, ...servers]);
  if (other !== undefined) object("look_alike", `${shown} could be taken for ${other}, and is not that package.`);
}

function judgeRuntime(chosen: RegistryPackage, object: Objecting): void {
  const { runtimeHint, runtimeArguments = [], packageArguments = [] } = chosen;
  if (runtimeHint !== undefined && runtimeHint !== "npx" && runtimeHint !== "node")
    object("runtime_changed", `It wants to be run by "${inLine(runtimeHint)}", which is no part of the package.`);
  for (const argument of runtimeArguments) {
    const text = argumentWords(argument).join(" ");
    if (text !== "-y" && text !== "--yes")
      object("runtime_changed", `It wants "${inLine(text)}" given to what runs it; nothing is.`);
  }
  for (const argument of packageArguments) {
    if (argument.isRequired === true && givenValue(argument) === undefined)
      object(
        "value_missing",
        `It needs a value for "${inLine(argument.name ?? "an argument")}". Add it by hand: ergon servers add.`,
      );
  }
}

/** An argument as words of a command; none when it is left out. */
export function argumentWords(argument: RegistryArgument): readonly string[] {
  const value = givenValue(argument);
  if (argument.type === "named" || (argument.name?.startsWith("-") ?? false)) {
    const flag = argument.name ?? "";
    if (value === undefined) return argument.isRequired === true ? [flag] : [];
    return [flag, value];
  }
  return value === undefined ? [] : [value];
}

export function givenValue({
  value,
  default: fallback,
}: {
  readonly value?: string | undefined;
  readonly default?: string | undefined;
}): string | undefined {
  return value ?? fallback;
}

const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const SAFE_VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables by which a program loads other code, finds other programs, or sends its traffic elsewhere. */
const CHANGES_RUNTIME =
  /^(?:NODE_.*|NPM_.*|DENO_.*|BUN_.*|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_.*|_JAVA_.*|ERGON_.*|SSL_.*|OPENSSL_.*|PATH|HOME|SHELL|ENV|BASH_ENV|IFS|PROMPT_COMMAND|TMPDIR|COMSPEC|EDITOR|PAGER|(?:HTTPS?|ALL|NO)_PROXY)$/i;

/** A stranger's text inside a sentence of ours. */
export function inLine(text: string): string {
  return showHidden(text).replaceAll(/[\n\t]/g, " ");
}
