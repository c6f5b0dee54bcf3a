import type { z } from "zod";
import { unknownField } from "./unknown-fields.ts";

/** A place in the file's value. */
export type FilePath = readonly (string | number)[];

/** Writes down what is wrong, and where. */
export type Note = (path: FilePath, message: string) => void;

/** What the schema makes of a value; undefined, with everything noted that is wrong, where it does not fit. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, at: FilePath, note: Note): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const path = [...at, ...(issue.path as FilePath)];
    if (issue.code === "unrecognized_keys")
      for (const key of issue.keys) note([...path, key], unknownField(kindAt(path), key));
    else note(path, issue.message);
  }
  return undefined;
}

function kindAt(path: FilePath): "rule" | "access" | "oauth" | "server" {
  if (path[0] === "approvalRules") return "rule";
  const last = path.at(-1);
  return last === "access" || last === "oauth" ? last : "server";
}
