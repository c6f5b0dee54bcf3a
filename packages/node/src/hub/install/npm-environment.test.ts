import { expect, it } from "vitest";
import { npmEnvironment } from "./npm-environment.ts";

it("lets through what the network needs, and neither keys nor what changes how programs run", () => {
  const needed = {
    PATH: "/bin",
    HOME: "/ada",
    https_proxy: "http://proxy:3128",
    NODE_EXTRA_CA_CERTS: "/etc/ca.pem",
    npm_config_registry: "https://registry.example",
  };
  const kept = {
    ERGON_TOKEN: "t",
    OPENAI_API_KEY: "k",
    NODE_OPTIONS: "--require ./evil.js",
    LD_PRELOAD: "evil.so",
    npm_config_script_shell: "evil",
    npm_config_ignore_scripts: "false",
    MY_PATH: "x",
    LANG: undefined,
  };
  expect(npmEnvironment({ ...needed, ...kept })).toEqual(needed);
});
