import type { Clock, Logger, Sandbox } from "@ergon/core";
import { createRemoteSandbox, createSupervisedSandbox, type SettingValues } from "@ergon/node";

export type OpenSandboxOptions = {
  readonly values: SettingValues;
  /** The program's own entry. */
  readonly entry: string;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The service that the settings name, or one of our own. */
export function openSandbox({ values, entry, clock, logger }: OpenSandboxOptions): Sandbox {
  const { sandboxUrl: url, sandboxToken: token, data, log } = values;
  if (url !== undefined && token !== undefined) {
    return { ...createRemoteSandbox({ url, token }), close: () => Promise.resolve() };
  }
  return createSupervisedSandbox({
    command: [process.execPath, entry, "sandbox", "--attached", "--data", data],
    env: { ...passedOn(), ERGON_LOG: log },
    clock,
    logger,
  });
}

/** What a process needs to start at all. Keys and settings of ours stay here. */
function passedOn(): Record<string, string> {
  const names = ["PATH", "HOME", "XDG_STATE_HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LANG"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
