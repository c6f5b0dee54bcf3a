import type { MCPServerConfig, OAuthSettings, WantedServer } from "@ergon/core";

/**
 * Puts values of the environment in the place of `${NAME}`. A name that is not set keeps the server from starting, and the
 * message names it: an empty key would fail later, and nobody would know why. Whatever stood in `env`, in `headers` or came
 * from the environment counts as a secret.
 */
export function expandServer(
  config: MCPServerConfig,
  environment: Readonly<Record<string, string | undefined>>,
): WantedServer {
  const missing = new Set<string>();
  const secrets = new Set<string>();
  const expand = (text: string): string =>
    text.replaceAll(REFERENCE, (_, name: string, fallback: string | undefined) => {
      const value = environment[name] ?? fallback;
      if (value === undefined || value === "") missing.add(name);
      else if (environment[name] !== undefined) secrets.add(value);
      return value ?? "";
    });
  const expandAll = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(record).map(([name, text]) => {
        const value = expand(text);
        secrets.add(value);
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
  const { command, args, env, url, headers, oauth, cwd } = config;
  const expanded: MCPServerConfig = {
    ...config,
    ...(command === undefined ? {} : { command: expand(command) }),
    ...(args === undefined ? {} : { args: args.map(expand) }),
    ...(env === undefined ? {} : { env: expandAll(env) }),
    ...(url === undefined ? {} : { url: expand(url) }),
    ...(headers === undefined ? {} : { headers: expandAll(headers) }),
    ...(oauth === undefined ? {} : { oauth: expandOAuth(oauth) }),
    ...(cwd === undefined ? {} : { cwd: expand(cwd) }),
  };
  const names = [...missing].map((name) => `\${${name}}`).join(", ");
  const problem = `Its configuration needs ${names}, and the environment does not have ${missing.size === 1 ? "it" : "them"}.`;
  return { config: expanded, secrets: [...secrets], ...(missing.size === 0 ? {} : { problem }) };
}

/** `${NAME}`, `${env:NAME}` as other hosts write it, and `${NAME:-fallback}`. */
const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
