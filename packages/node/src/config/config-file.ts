import { join } from "node:path";
import { readOwnFile } from "../ownership/own-file.ts";
import { parseJsonDocument } from "./json-document.ts";

export const MAX_CONFIG_BYTES = 1024 * 1024;
const CONFIG_FILE = "config.json";
export const PROJECT_FILE = "ergon.config.json";

export type ConfigFile =
  | { readonly state: "absent" }
  | { readonly state: "read"; readonly file: string; readonly values: Readonly<Record<string, unknown>> }
  | { readonly state: "broken"; readonly file: string; readonly reason: string };

/** Reads `DATA/config.json`. Whether the folder is trusted enough to be asked is the caller's decision. */
export function readConfigFile(dataFolder: string): ConfigFile {
  return readFileOf(join(dataFolder, CONFIG_FILE));
}

/** Reads `ergon.config.json` of a project. Whether this user trusts the project is the caller's decision. */
export function readProjectFile(projectFolder: string): ConfigFile {
  const read = readFileOf(join(projectFolder, PROJECT_FILE));
  if (read.state !== "read") return read;
  const { $schema: _, ...values } = read.values;
  return { ...read, values };
}

function readFileOf(file: string): ConfigFile {
  const broken = (reason: string): ConfigFile => ({ state: "broken", file, reason });
  let source: Buffer | undefined;
  try {
    source = readOwnFile(file, MAX_CONFIG_BYTES);
  } catch (error) {
    return broken(error instanceof Error ? error.message.replace(/\.$/, "") : String(error));
  }
  if (source === undefined) return { state: "absent" };
  const document = parseJsonDocument(source.toString("utf8"));
  if (!document.ok) return broken(`it is not JSON: ${document.message}`);
  const { value } = document;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return broken("it must hold one JSON object");
  return { state: "read", file, values: { ...value } };
}
