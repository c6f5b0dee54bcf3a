import { LoopValidationError } from "../errors/refinement.ts";
import { LoopType, Score } from "../schema/refinement.ts";
import { didYouMean } from "../schema/values/suggest.ts";

// What strangers gave, as what it has to be; throws `loop_validation` with the field.

export function checkLoopType(given: unknown): LoopType {
  const parsed = LoopType.safeParse(given);
  if (parsed.success) return parsed.data;
  const known = LoopType.options;
  const hint = typeof given === "string" ? didYouMean(given, known) : "";
  throw new LoopValidationError(
    "loop_type",
    `loop_type must be one of ${known.join(", ")}, not ${shown(given)}.${hint}`,
  );
}

export function checkScore(given: unknown): Score {
  const parsed = Score.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new LoopValidationError(
    "current_score",
    `current_score must be a whole number from 0 to 100, not ${shown(given)}.`,
  );
}

export function checkLoopId(given: unknown): string {
  if (typeof given === "string" && given !== "") return given.slice(0, MAX_SHOWN);
  throw new LoopValidationError("loop_id", `loop_id must be a loop's id, not ${shown(given)}.`);
}

/** A value that was refused, short enough for a message. */
function shown(given: unknown): string {
  if (given === undefined) return "nothing";
  if (typeof given === "string") {
    const text = JSON.stringify(given.slice(0, MAX_SHOWN));
    return given.length <= MAX_SHOWN ? text : `${text}…`;
  }
  if (typeof given === "number" || typeof given === "boolean" || given === null) return String(given);
  return Array.isArray(given) ? "a list" : `an ${typeof given}`;
}

const MAX_SHOWN = 100;
