import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

export type LoopErrorCode = "loop_validation" | "loop_state" | "loop_not_found" | "loop_already_exists";

/** Spec 3 names these classes; the code is what callers ask for. */
export class LoopError extends ErgonError<LoopErrorCode> {}

export class LoopValidationError extends LoopError {
  constructor(field: string, message: string, options: ErrorOptions = {}) {
    super("loop_validation", message, { ...options, details: { ...options.details, field } });
  }
}

export class LoopStateError extends LoopError {
  constructor(loopId: string, operation: string, message: string, options: ErrorOptions = {}) {
    super("loop_state", message, { ...options, details: { ...options.details, loop_id: loopId, operation } });
  }
}

export class LoopNotFoundError extends LoopError {
  /** `where` says where loops are kept. */
  constructor(loopId: string, { where, ...options }: ErrorOptions & { readonly where?: string } = {}) {
    super("loop_not_found", `No refinement loop "${loopId}".${where === undefined ? "" : ` ${where}`}`, {
      ...options,
      details: { ...options.details, loop_id: loopId },
    });
  }
}

export class LoopAlreadyExistsError extends LoopError {
  constructor(loopId: string, options: ErrorOptions = {}) {
    super("loop_already_exists", `A refinement loop "${loopId}" exists already.`, {
      ...options,
      details: { ...options.details, loop_id: loopId },
    });
  }
}
