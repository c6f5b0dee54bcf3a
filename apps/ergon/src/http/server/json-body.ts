import type { IncomingMessage } from "node:http";
import { pointerTo } from "@ergon/core/schema";
import { httpError } from "./problem.ts";

export type BodyLimits = { readonly bytes: number; readonly depth: number; readonly values: number };

export const BODY_LIMITS: BodyLimits = { bytes: 1024 * 1024, depth: 64, values: 50_000 };
/** Processes of the same user on the same data folder hand over what the command line accepts. */
export const LOCAL_BODY_LIMITS: BodyLimits = { bytes: 64 * 1024 * 1024, depth: 512, values: 5_000_000 };

/** What is read and thrown away, so that a client hears of its mistake instead of a broken pipe. */
export const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;

/** Reads a JSON body within its limits; undefined when there is none. */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, limits.bytes);
  if (bytes.byteLength === 0) return undefined;
  const body = parse(bytes);
  const problem = shapeProblem(body, limits);
  if (problem !== undefined) throw httpError("body_too_complex", `The body is ${problem}.`);
  return body;
}

/** By events, not by iteration: leaving an iteration would close the connection before the answer is out. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const declared = Number(request.headers["content-length"] ?? 0);
  const chunks: Buffer[] = [];
  let total = 0;
  const take = (chunk: Buffer): void => {
    total += chunk.byteLength;
    if (total <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (total > maxBytes + MAX_DISCARDED_BYTES) refuse();
  };
  const refuse = (): void => {
    request.off("data", take).pause();
    reject(tooLarge(maxBytes));
  };
  if (declared > maxBytes + MAX_DISCARDED_BYTES) refuse();
  else {
    request
      .on("data", take)
      .once("end", () => (total > maxBytes ? reject(tooLarge(maxBytes)) : resolve(Buffer.concat(chunks))))
      .once("error", () => reject(httpError("bad_request", "The body ended before it was whole.")));
  }
  return promise;
}

function tooLarge(maxBytes: number): Error {
  return httpError("body_too_large", `The body is larger than ${maxBytes} bytes.`, { details: { maxBytes } });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw httpError("body_not_json", `The body is not JSON: ${why}.`, { cause: error });
  }
}

type Place = { readonly value: object; readonly depth: number; readonly parent?: Place; readonly key?: PropertyKey };

/** Says what is too much about a parsed body, without recursion: depth is what it guards against. */
export function shapeProblem(body: unknown, { depth, values }: BodyLimits): string | undefined {
  let seen = 1;
  if (typeof body !== "object" || body === null) return scalarProblem(body);
  const open: Place[] = [{ value: body, depth: 1 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > depth) return `nested deeper than ${depth} levels`;
    const keys = Array.isArray(place.value) ? place.value.keys() : Object.keys(place.value);
    for (const key of keys) {
      seen += 1;
      if (seen > values) return `made of more than ${values} values`;
      if (key === "__proto__") return `using the name "__proto__", at ${pathOf(place, key)}`;
      const value = (place.value as Readonly<Record<PropertyKey, unknown>>)[key];
      if (typeof value === "object" && value !== null) open.push({ value, depth: place.depth + 1, parent: place, key });
      const problem = scalarProblem(value);
      if (problem !== undefined) return `${problem}, at ${pathOf(place, key)}`;
    }
  }
  return undefined;
}

/** JSON can spell numbers that no double holds; they become Infinity when read. */
function scalarProblem(value: unknown): string | undefined {
  return typeof value === "number" && !Number.isFinite(value) ? "using a number out of range" : undefined;
}

function pathOf(place: Place, key: PropertyKey): string {
  const parts = [key];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) parts.unshift(at.key);
  return pointerTo(parts);
}
