import type { ErrorRecord } from "../schema/error.ts";
import { jsonProblem } from "../schema/values/json.ts";

/** What an ErgonError looks like once it crosses a wire or a disk. */
export type ErrorValue = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
};

export type ErrorOptions = {
  readonly retryable?: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

/**
 * The one error class that leaves Ergon. Callers ask for `code`, never for a subclass: instances do not survive
 * a process boundary, codes do.
 */
export class ErgonError<Code extends string = string> extends Error {
  override readonly name: string = "ErgonError";
  readonly code: Code;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: Code, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }

  /** The plain value for journals, events and answers: no stack, no cause. */
  toJSON(): ErrorValue {
    return errorValue(this.code, this.message, { retryable: this.retryable, details: this.details });
  }
}

export function errorValue(
  code: string,
  message: string,
  options: { readonly retryable?: boolean; readonly details?: Readonly<Record<string, unknown>> | undefined } = {},
): ErrorValue {
  const base = { code, message, retryable: options.retryable ?? false };
  return options.details === undefined ? base : { ...base, details: options.details };
}

/** Turns whatever was thrown into an ErgonError; what is one already passes through. Never throws itself. */
export function toErgonError(thrown: unknown, fallbackCode: string): ErgonError {
  try {
    if (isErgonError(thrown)) return thrown;
    const message = thrown instanceof Error ? thrown.message : describeThrown(thrown);
    return new ErgonError(fallbackCode, message, { cause: thrown });
  } catch {
    return new ErgonError(fallbackCode, "a value that cannot even be looked at was thrown");
  }
}

/** The error that a value of it stands for, to be thrown. */
export function thrownFrom({ code, message, retryable, details }: ErrorValue | ErrorRecord): ErgonError {
  return new ErgonError(code, message, details === undefined ? { retryable } : { retryable, details });
}

/** Recognised by shape as well: a tool's bundle may carry its own copy of the class. */
export function isErgonError(thrown: unknown): thrown is ErgonError {
  if (thrown instanceof ErgonError) return true;
  return thrown instanceof Error && thrown.name === "ErgonError" && "code" in thrown && typeof thrown.code === "string";
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  // Few objects may unfold to a text without end; what is no JSON is named by its kind alone.
  if (jsonProblem(thrown) !== undefined) return `a value of type ${typeof thrown} was thrown`;
  return JSON.stringify(thrown).slice(0, MAX_DESCRIPTION);
}

const MAX_DESCRIPTION = 1_000;
