import { createReadStream } from "node:fs";
import { usageError } from "@ergon/core/schema";
import { parseJsonDocument } from "@ergon/node";

export const MAX_ARGS_BYTES = 64 * 1024 * 1024;

/** Reads a flag that takes a JSON object. Throws `input_invalid`. */
export async function readArgs(
  given: string,
  stdin: AsyncIterable<unknown>,
  flag = "--args",
): Promise<Record<string, unknown>> {
  const value = await readJsonValue(given, stdin, flag);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  const from = sourceOf(given, flag);
  throw usageError("input_invalid", `${from} must be a JSON object, like {"name": "value"}.`, { details: { from } });
}

/** Reads a flag that takes JSON: as it is, `@file` for a file's content, `-` for stdin. Throws `input_invalid`. */
export async function readJsonValue(given: string, stdin: AsyncIterable<unknown>, flag: string): Promise<unknown> {
  const from = sourceOf(given, flag);
  const source =
    given === "-"
      ? await readAll("stdin", stdin)
      : given.startsWith("@")
        ? await readFile(given.slice(1), flag)
        : given;
  const document = parseJsonDocument(source);
  if (document.ok) return document.value;
  const { line, column } = document;
  throw usageError("input_invalid", `${from} is not JSON: ${document.message}.`, { details: { from, line, column } });
}

function sourceOf(given: string, flag: string): string {
  if (given === "-") return "stdin";
  return given.startsWith("@") ? given.slice(1) : flag;
}

async function readFile(file: string, flag: string): Promise<string> {
  if (file === "") throw usageError("input_invalid", `${flag} @ names no file; write ${flag} @some.json.`);
  try {
    return await readAll(file, createReadStream(file));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw usageError("input_invalid", `${flag} @${file}: it cannot be read (${error.message}).`, { cause: error });
  }
}

async function readAll(from: string, stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    const buffer = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    bytes += buffer.length;
    if (bytes > MAX_ARGS_BYTES) throw usageError("input_invalid", `${from} holds more than ${MAX_ARGS_BYTES} bytes.`);
    parts.push(buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}

export function wholeNumber(given: string, flag: string): number {
  const value = Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000) return value;
  throw usageError("input_invalid", `${flag} takes a whole number from 1 to 1000, not "${given}".`);
}
