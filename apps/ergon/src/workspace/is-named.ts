import type { SettingName, Settings } from "@ergon/node";

/** A person chose it; it is not only where such a thing would be. */
export function isNamed({ entries }: Pick<Settings, "entries">, setting: SettingName): boolean {
  return entries.find(({ name }) => name === setting)?.source !== "default";
}
