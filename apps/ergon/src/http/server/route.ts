import type { ServerResponse } from "node:http";
import { didYouMean, type Logger } from "@ergon/core";
import { pointerTo, usageError } from "@ergon/core/schema";
import type { Issue } from "@ergon/core/engine";
import type { Principal } from "@ergon/node";
import { z } from "zod";

/** Who may ask: anybody, any token, a person's token, the first token. */
export type Access = "open" | "agent" | "person" | "admin";

/** What a route knows of a request beside what it asked for. */
export type RequestContext = {
  readonly principal: Principal;
  readonly owner: string;
  readonly requestId: string;
  readonly logger: Logger;
  /** `Prefer: wait`, in milliseconds. */
  readonly waitMs: number | undefined;
  readonly lastEventId: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /**
   * Of a request with an `Idempotency-Key`: names what it starts, the same each time that it is sent. Sent before, it may
   * have started that already.
   */
  readonly start?: { readonly id: string; readonly wasSent: boolean };
  /** From now on it counts as an open stream, not as a request under way. Throws `too_many_requests`. */
  readonly becomeStream: () => void;
  /** Aborts when there is nobody to answer any more. */
  readonly left: () => AbortSignal;
  /** Aborts then, and when the token is revoked or the server drains: what only waits must end. */
  readonly dismissed: () => AbortSignal;
};

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly body: unknown }
  /** A body that was written as JSON before. */
  | { readonly json: string }
  | { readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly stream: (response: ServerResponse) => Promise<void> }
);

export type AnswerShape = { readonly description: string; readonly schema?: z.ZodType; readonly mediaType?: string };

/** One door: what it takes, what it answers, who may use it. OpenAPI is made of these too. */
export type Route = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Takes `Prefer: wait`. */
  readonly waits?: boolean;
  /** Takes `Idempotency-Key`: what it starts, it starts once. */
  readonly isStart?: boolean;
  readonly answers: Readonly<Record<number, AnswerShape>>;
  /** Throws what is wrong with the input. */
  readonly check: (input: RawInput) => void;
  readonly handle: (input: RawInput, asker: RequestContext) => Promise<Answer>;
};

type RawInput = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

type Parsed<T extends z.ZodType | undefined> = T extends z.ZodType ? z.output<T> : undefined;

type Definition<
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
> = Omit<Route, "check" | "handle" | "params" | "query" | "body"> & {
  readonly params?: P;
  /** What a name that cannot exist answers: the same as one that does not. */
  readonly unknown?: (params: Readonly<Record<string, string>>) => Error;
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (
    input: { readonly params: Parsed<P>; readonly query: Parsed<Q>; readonly body: Parsed<B> },
    asker: RequestContext,
  ) => Promise<Answer> | Answer;
};

export function route<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: Definition<P, Q, B>): Route {
  const { params, query, body, unknown, handle, ...rest } = definition;
  const read = (input: RawInput) => ({
    params: parseParams(params, input.params, unknown) as Parsed<P>,
    query: parse(query, input.query, "query") as Parsed<Q>,
    body: parse(body, input.body ?? {}, "body") as Parsed<B>,
  });
  return {
    ...rest,
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    check: (input) => void read(input),
    handle: async (input, asker) => await handle(read(input), asker),
  };
}

function parseParams(
  schema: z.ZodType | undefined,
  value: unknown,
  unknown: ((params: Readonly<Record<string, string>>) => Error) | undefined,
): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unknown?.(value as Readonly<Record<string, string>>) ?? invalid(parsed.error, "path", schema);
}

function parse(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error, where, schema);
}

/** One answer names at most this many problems. */
const MAX_ISSUES = 100;

function invalid(error: z.ZodError, where: string, schema: z.ZodType): Error {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const issues = error.issues.flatMap((found) => issuesOf(found, known)).slice(0, MAX_ISSUES);
  const [first] = issues;
  const place = first === undefined || first.path === "" ? "" : ` at ${first.path}`;
  const message = `The ${where} has ${issues.length} problem(s): ${first?.message ?? "it cannot be read"}${place}.`;
  return usageError("input_invalid", message, { details: { issues } });
}

function issuesOf(found: z.core.$ZodIssue, known: readonly string[]): Issue[] {
  if (found.code !== "unrecognized_keys") {
    return [{ path: pointerTo(found.path), code: found.code, message: found.message }];
  }
  return found.keys.map((key) => ({
    path: pointerTo([...found.path, key]),
    code: "unknown_field",
    message: `"${key}" is not a field here.${found.path.length === 0 ? didYouMean(key, known) : ""}`,
  }));
}
