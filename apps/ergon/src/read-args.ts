import { createReadStream } from "node:fs";
import { usageError } from "@ergon/core";
import { parseJsonDocument } from "@ergon/node";

export const MAX_ARGS_BYTES = 64 * 1024 * 1024;

/** Reads `--args`: JSON as it is, `@file` for a file's content, `-` for stdin. Throws `input_invalid`. */
export async function readArgs(given: string, stdin: AsyncIterable<unknown>): Promise<Record<string, unknown>> {
  const source =
    given === "-" ? await readAll("stdin", stdin) : given.startsWith("@") ? await readFile(given.slice(1)) : given;
  const document = parseJsonDocument(source);
  const from = given === "-" ? "stdin" : given.startsWith("@") ? given.slice(1) : "--args";
  if (!document.ok) {
    const { line, column } = document;
    throw usageError("input_invalid", `${from} is not JSON: ${document.message}.`, { details: { from, line, column } });
  }
  const { value } = document;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError("input_invalid", `${from} must be a JSON object, like {"name": "value"}.`, { details: { from } });
}

async function readFile(file: string): Promise<string> {
  if (file === "") throw usageError("input_invalid", "--args @ names no file; write --args @args.json.");
  try {
    return await readAll(file, createReadStream(file));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw usageError("input_invalid", `--args @${file}: it cannot be read (${error.message}).`, { cause: error });
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
