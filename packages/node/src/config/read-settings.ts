import { dirname, resolve } from "node:path";
import { didYouMean } from "@ergon/core";
import { redactSecrets } from "@ergon/core/schema";
import { type ConfigFile, readConfigFile, readProjectFile } from "./config-file.ts";
import { crossChecks } from "./cross-checks.ts";
import type { ResolvedSetting, SettingInput, SettingProblem, Settings, SettingSource } from "./resolved-setting.ts";
import { type Setting, type SettingName, SETTINGS, type SettingValues } from "./settings-table.ts";

/** Flag beats environment beats file beats default; a bad value is a problem of its setting, never a throw. */
export function readSettings(input: SettingInput): Settings {
  const project = projectFile(input);
  const data = resolveSetting("data", input, [project.used]);
  const trusted = data.entry.source !== "default";
  const found = readConfigFile(String(data.value));
  const isUsed = trusted && (found.state === "absent" || (input.mayUse?.(String(data.value)) ?? true));
  const file: ConfigFile = isUsed ? found : { state: "absent" };
  const files = [file, project.used];
  const resolved = SETTING_NAMES.map((name) => (name === "data" ? data : resolveSetting(name, input, files)));
  const values = Object.fromEntries(resolved.map(({ entry, value }) => [entry.name, value])) as SettingValues;
  const problems = [
    ...resolved.flatMap(({ entry }) => entry.problems),
    ...fileProblems(file, isBarredFromFile),
    ...fileProblems(project.used, isSecret),
    ...project.problems,
    ...(trusted ? [] : untrustedFileProblems(found)),
    ...unknownVariables(input.env),
    ...crossChecks(values),
  ];
  return { values, entries: resolved.map(({ entry }) => entry), problems };
}

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
const VARIABLES = new Set<string>(SETTING_NAMES.map((name) => SETTINGS[name].env));

type Given = { readonly source: SettingSource; readonly origin: string; readonly raw: unknown; readonly base: string };
type Resolved = { readonly entry: ResolvedSetting; readonly value: unknown };

/** A project's file chooses code and servers, so one that came with a repository is not read. */
function projectFile({ cwd, trustsProject }: SettingInput): { used: ConfigFile; problems: readonly SettingProblem[] } {
  const found: ConfigFile = trustsProject === undefined ? { state: "absent" } : readProjectFile(cwd);
  if (found.state === "absent" || trustsProject?.(cwd) === true) return { used: found, problems: [] };
  const message = `${found.file} is not read: you have not trusted this folder, and the file could choose code and servers that run as you. Look at it, then: ergon trust ${cwd}`;
  return { used: { state: "absent" }, problems: [{ severity: "warning", message }] };
}

function resolveSetting(name: SettingName, input: SettingInput, files: readonly ConfigFile[]): Resolved {
  const setting: Setting<unknown> = SETTINGS[name];
  const given = givenValues(name, setting, input, files);
  const used = setting.collected ? given : given.slice(0, 1);
  const parsed = used.map((one) => parseGiven(name, setting, one));
  const problems = parsed.flatMap((one) => (one.ok ? [] : [one.problem]));
  const accepted = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  const fallback = { source: "default", origin: "default", raw: setting.fallback, base: input.cwd } as const;
  const value =
    accepted.length === 0
      ? settled(setting, setting.fallback, input.cwd)
      : setting.collected
        ? unique(accepted.flat())
        : accepted[0];
  const strongest = used[0] ?? fallback;
  const origin = used.length > 1 ? used.map((one) => one.origin).join(", ") : strongest.origin;
  const { env, group, description } = setting;
  const shown = describeValue(setting, value, strongest.source);
  const entry = { name, env, group, description, source: strongest.source, origin, shown, problems };
  return { entry: setting.flag === undefined ? entry : { ...entry, flag: setting.flag }, value };
}

/** What was said about a setting, the strongest source first. An empty variable counts as unset. */
function givenValues(
  name: SettingName,
  setting: Setting<unknown>,
  input: SettingInput,
  files: readonly ConfigFile[],
): Given[] {
  const given: Given[] = [];
  const { flags, env, cwd } = input;
  const fromFlag = flags[name];
  if (fromFlag !== undefined) given.push({ source: "flag", origin: setting.flag ?? name, raw: fromFlag, base: cwd });
  const fromEnv = env[setting.env];
  if (fromEnv !== undefined && fromEnv !== "")
    given.push({ source: "environment", origin: setting.env, raw: fromEnv, base: cwd });
  for (const file of files) {
    if (file.state !== "read" || !Object.hasOwn(file.values, name) || isSecret(setting)) continue;
    given.push({ source: "file", origin: file.file, raw: file.values[name], base: dirname(file.file) });
  }
  return given;
}

type ParsedGiven =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: SettingProblem };

function parseGiven(name: SettingName, setting: Setting<unknown>, given: Given): ParsedGiven {
  const refuse = (message: string): ParsedGiven => ({
    ok: false,
    problem: { severity: "error", setting: name, message },
  });
  const label = given.source === "file" ? `"${name}" in ${given.origin}` : given.origin;
  const later = setting.later?.find(({ pattern }) => typeof given.raw === "string" && pattern.test(given.raw));
  if (later !== undefined)
    return refuse(`${label}: ${later.what} comes in a later version; until then it must be ${setting.kind.expects}.`);
  const parsed = setting.kind.schema().safeParse(given.raw);
  if (parsed.success) return { ok: true, value: settled(setting, parsed.data, given.base) };
  const shown = setting.secret ? "not usable" : brief(given.raw);
  return refuse(`${label} is ${shown}; it must be ${setting.kind.expects}.`);
}

function settled(setting: Setting<unknown>, value: unknown, base: string): unknown {
  if (setting.kind.isPath === undefined) return value;
  return Array.isArray(value) ? value.map((one) => resolve(base, String(one))) : resolve(base, String(value));
}

function describeValue(setting: Setting<unknown>, value: unknown, source: SettingSource): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "not set";
  if (setting.secret) return `set (from ${source})`;
  const text = typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value);
  return redactSecrets(text);
}

function fileProblems(file: ConfigFile, isBarred: (setting: Setting<unknown>) => boolean): SettingProblem[] {
  if (file.state === "absent") return [];
  if (file.state === "broken") return [{ severity: "error", message: `${file.file} cannot be used: ${file.reason}.` }];
  return Object.keys(file.values).flatMap((key): SettingProblem[] => {
    const name = SETTING_NAMES.find((known) => known === key);
    const where = `${brief(key)} in ${file.file}`;
    if (name === undefined) {
      return [{ severity: "error", message: `${where} is not a setting.${didYouMean(key, SETTING_NAMES)}` }];
    }
    if (!isBarred(SETTINGS[name])) return [];
    const message = `${where} is not read from a file: set ${SETTINGS[name].env} in the environment instead.`;
    return [{ severity: "error", setting: name, message }];
  });
}

function isBarredFromFile(setting: Setting<unknown>): boolean {
  return isSecret(setting) || setting.notInFile === true;
}

function isSecret(setting: Setting<unknown>): boolean {
  return setting.secret === true;
}

function untrustedFileProblems(file: ConfigFile): SettingProblem[] {
  if (file.state === "absent") return [];
  const message =
    `${file.file} is not read: its folder was found by working directory, and whoever made that folder could choose ` +
    "your settings. Name the folder with --data or ERGON_DATA to use it.";
  return [{ severity: "warning", message }];
}

/** A name in one of our own prefixes that nothing reads is a typing mistake, or a wish for another version. */
function unknownVariables(env: SettingInput["env"]): SettingProblem[] {
  const ours = Object.keys(env).filter(
    (name) => /^(ERGON|FSDD)_/.test(name) && !VARIABLES.has(name) && env[name] !== undefined,
  );
  return ours.sort().map((name) => ({
    severity: name.startsWith("FSDD_") ? "error" : "warning",
    message: `${name} is not a setting of Ergon.${didYouMean(name, VARIABLES)}`,
  }));
}

function brief(raw: unknown): string {
  const text = redactSecrets(JSON.stringify(raw) ?? String(raw));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function unique(values: readonly unknown[]): unknown[] {
  return [...new Set(values)];
}
