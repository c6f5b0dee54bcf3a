import type { z } from "zod";

/** A place in the file's value. */
export type FilePath = readonly (string | number)[];

/** Writes down what is wrong, and where. */
export type Note = (path: FilePath, message: string) => void;

/** What the schema makes of a value; undefined, with everything noted that is wrong, where it does not fit. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, at: FilePath, note: Note): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) note([...at, ...(path as FilePath)], message);
  return undefined;
}
