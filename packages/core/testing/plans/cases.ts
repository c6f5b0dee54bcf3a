import { CONDITION_CASES } from "./cases-conditions.ts";
import { FAILURE_CASES } from "./cases-failures.ts";
import { FLOW_CASES } from "./cases-flow.ts";
import { JOIN_CASES } from "./cases-joins.ts";
import { LOOP_CASES } from "./cases-loops.ts";
import { VALUE_CASES } from "./cases-values.ts";
import type { PlanCase } from "./plan-case.ts";

/** The contract's sentences on plans, one by one: every interpreter must give exactly what is expected here. */
export const PLAN_CASES: readonly PlanCase[] = [
  ...FLOW_CASES,
  ...VALUE_CASES,
  ...JOIN_CASES,
  ...LOOP_CASES,
  ...FAILURE_CASES,
  ...CONDITION_CASES,
];
