import type { MCPServerConfig, OAuthSettings, WantedServer } from "@ergon/core/hub";
import { isSecretName } from "../../log/redact.ts";

/**
 * Puts values of the environment in the place of `${NAME}`. A name that is not set keeps the server from starting, and the
 * message names it: an empty key would fail later, and nobody would know why. Whatever stood in `env`, in `headers` or came
 * from the environment counts as a secret; what is named like a key or follows an option named so is a credential.
 */
export function expandServer(
  config: MCPServerConfig,
  environment: Readonly<Record<string, string | undefined>>,
): WantedServer {
  const missing = new Set<string>();
  const secrets = new Set<string>();
  const credentials = new Set<string>(credentialsIn(config));
  const expand = (text: string): string =>
    text.replaceAll(REFERENCE, (_, name: string, fallback: string | undefined) => {
      const value = environment[name] ?? fallback;
      if (value === undefined || value === "") missing.add(name);
      else if (environment[name] !== undefined) secrets.add(value);
      if (value !== undefined && isSecretName(name)) credentials.add(value);
      return value ?? "";
    });
  const expandAll = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(record).map(([name, text]) => {
        const value = expand(text);
        secrets.add(value);
        if (isSecretName(name)) credentials.add(value.replace(/^(Bearer|Basic)\s+/i, ""));
        for (const secret of credentialsInAddress(value)) credentials.add(secret);
        return [name, value];
      }),
    );
  const expandOAuth = ({ clientId, clientSecret, privateKey, ...rest }: OAuthSettings): OAuthSettings => ({
    ...rest,
    ...(clientId === undefined ? {} : { clientId: expand(clientId) }),
    ...expandAll({
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(privateKey === undefined ? {} : { privateKey }),
    }),
  });
  const expandAccess = ({ read, write, ...rest }: NonNullable<MCPServerConfig["access"]>): typeof access => ({
    ...rest,
    ...(read === undefined ? {} : { read: read.map(expand) }),
    ...(write === undefined ? {} : { write: write.map(expand) }),
  });
  const { command, args, env, url, headers, oauth, cwd, access } = config;
  const expanded: MCPServerConfig = {
    ...config,
    ...(command === undefined ? {} : { command: expand(command) }),
    ...(args === undefined ? {} : { args: args.map(expand) }),
    ...(env === undefined ? {} : { env: expandAll(env) }),
    ...(url === undefined ? {} : { url: expand(url) }),
    ...(headers === undefined ? {} : { headers: expandAll(headers) }),
    ...(oauth === undefined ? {} : { oauth: expandOAuth(oauth) }),
    ...(cwd === undefined ? {} : { cwd: expand(cwd) }),
    ...(access === undefined ? {} : { access: expandAccess(access) }),
  };
  const names = [...missing].map((name) => `\${${name}}`).join(", ");
  const problem = `Its configuration needs ${names}, and the environment does not have ${missing.size === 1 ? "it" : "them"}.`;
  return {
    config: expanded,
    written: shownServer(config),
    secrets: [...new Set([...secrets, ...credentials])],
    credentials: [...credentials],
    ...(missing.size === 0 ? {} : { problem }),
  };
}

/** A configuration as people and logs may see it: what may be a key is hidden, references stay. */
function shownServer(config: MCPServerConfig): MCPServerConfig {
  const { args, env, headers, url, oauth } = config;
  const found = credentialsIn(config);
  const hide = (text: string) => found.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
  const names = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([name, text]) => [name, isReference(text) ? text : HIDDEN]));
  return {
    ...config,
    ...(args === undefined ? {} : { args: args.map(hide) }),
    ...(env === undefined ? {} : { env: names(env) }),
    ...(headers === undefined ? {} : { headers: names(headers) }),
    ...(url === undefined ? {} : { url: hide(url) }),
    ...(oauth === undefined ? {} : { oauth: shownOAuth(oauth) }),
  };
}

function shownOAuth({ clientSecret, privateKey, ...rest }: OAuthSettings): OAuthSettings {
  return {
    ...rest,
    ...(clientSecret === undefined ? {} : { clientSecret: isReference(clientSecret) ? clientSecret : HIDDEN }),
    ...(privateKey === undefined ? {} : { privateKey: isReference(privateKey) ? privateKey : HIDDEN }),
  };
}

const HIDDEN = "[hidden]";

/** `${NAME}`, `${env:NAME}` as other hosts write it, and `${NAME:-fallback}`. */
const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function isReference(text: string): boolean {
  return (
    text
      .replaceAll(/\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*\}/g, "")
      .trim()
      .replace(/^(Bearer|Basic)$/i, "") === ""
  );
}

/** Keys that stand in plain words where a command line or an address is: `--api-key KEY`, `--token=KEY`, `user:KEY@`, `?key=KEY`. */
function credentialsIn({ args = [], url }: MCPServerConfig): readonly string[] {
  const found: string[] = [];
  args.forEach((arg, at) => {
    const [, option = "", value] = /^-{1,2}([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (option === "" || !isSecretName(option)) return;
    const next = value ?? args[at + 1];
    if (next !== undefined && (value !== undefined || !next.startsWith("-"))) found.push(next);
  });
  for (const text of [...args, ...(url === undefined ? [] : [url])]) found.push(...credentialsInAddress(text));
  return found.filter((secret) => secret !== "" && !isReference(secret));
}

function credentialsInAddress(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  const named = [...searchParams].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  return [...(password === "" ? [] : [decodeURIComponent(password)]), ...named];
}
