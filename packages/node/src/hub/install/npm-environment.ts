/** What npm and Node need to work here and to reach the network as the user does; no key of ours, nothing that changes how programs run. */
export function npmEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined && NEEDED.test(one[0])),
  );
}

/** `npm_config_…` is how users name their registry where no file does. */
const NEEDED = new RegExp(
  `^(?:${[
    "PATH|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|TMPDIR|TEMP|TMP|LANG",
    "HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR",
    "npm_config_(?:registry|userconfig|globalconfig|cache|cafile|proxy|https_proxy|noproxy|offline|prefer_offline)",
  ].join("|")})$`,
  "i",
);
