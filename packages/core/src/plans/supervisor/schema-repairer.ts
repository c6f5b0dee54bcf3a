import type { ArgumentRepairer } from "../../ports/argument-repairer.ts";
import { jsonEqual } from "../pointer/json-equal.ts";
import { coerceArguments } from "./coerce-arguments.ts";

/** Repairs by what the tool's schema says, with no model: defaults, types, spelling of choices, unknown keys. */
export const schemaRepairer: ArgumentRepairer = {
  repair: ({ parameters, args }) => {
    const coerced = coerceArguments(parameters, args);
    return Promise.resolve(jsonEqual(coerced, args) ? undefined : coerced);
  },
};
