import type { SettingInput } from "./resolved-setting.ts";

/** The one place that reads the process's environment. */
export function processEnvironment(): Pick<SettingInput, "env" | "cwd"> {
  return { env: { ...process.env }, cwd: process.cwd() };
}
