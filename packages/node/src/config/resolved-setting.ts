import type { SettingGroup, SettingName, SettingValues } from "./settings-table.ts";

export type SettingSource = "flag" | "environment" | "file" | "default";

export type SettingProblem = {
  /** An error refuses every command but `doctor`; a warning is shown. */
  readonly severity: "error" | "warning";
  readonly setting?: SettingName;
  readonly message: string;
};

export type ResolvedSetting = {
  readonly name: SettingName;
  readonly env: string;
  readonly flag?: string;
  readonly group: SettingGroup;
  readonly description: string;
  readonly source: SettingSource;
  /** Where exactly: the flag, the variable or the file. */
  readonly origin: string;
  /** Safe to print: a secret says only that it is set. */
  readonly shown: string;
  readonly problems: readonly SettingProblem[];
};

export type Settings = {
  readonly values: SettingValues;
  readonly entries: readonly ResolvedSetting[];
  /** Everything that is wrong, the entries' own problems included. */
  readonly problems: readonly SettingProblem[];
};

export type SettingFlags = { readonly [Name in SettingName]?: string | readonly string[] | undefined };

export type SettingInput = {
  readonly flags: SettingFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether a data folder that was named may be used at all; the settings in one that may not are not read. */
  readonly mayUse?: (dataFolder: string) => boolean;
  /** Whether this user trusts the project of the working folder. Without it `ergon.config.json` is not read. */
  readonly trustsProject?: (folder: string) => boolean;
};
