import type { ToolContext } from "@ergon/core";
import { z } from "zod";

const MAX_NAME = 200;

/** For so long what an action found stands for the same question in the same session. */
export const FRESH_MS = 5 * 60_000;

/** A person, however the caller names them. */
export const PersonArg = z
  .string()
  .trim()
  .min(1, "Name a person")
  .max(MAX_NAME)
  .describe("The person: an id or a name, such as amara-osei or Amara Osei");

/** A role, however the caller names it. */
export const RoleArg = z
  .string()
  .trim()
  .min(1, "Name a role")
  .max(MAX_NAME)
  .describe("The role: an id or a title, such as data-engineer or Data Engineer");

export const ThresholdArg = z
  .number()
  .min(-1)
  .max(1)
  .optional()
  .describe("How alike a match must be at least; without it what was measured for the embedding model");

export const limitArg = (fallback: number) => z.int().min(1).max(50).default(fallback).describe("How many at most");

/** The person and the role that the conversation is about: named by the caller, else what an earlier action found. */
export function subjectOf(context: ToolContext): { profileId?: string; roleId?: string } {
  const earlier = Object.values(record(context["downstreamData"])).map((left) => record(record(left)["structured"]));
  const first = (key: "profileId" | "roleId"): string | undefined =>
    [context, ...earlier.toReversed()].map((source) => source[key]).find((value) => typeof value === "string");
  const profileId = first("profileId");
  const roleId = first("roleId");
  return { ...(profileId === undefined ? {} : { profileId }), ...(roleId === undefined ? {} : { roleId }) };
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
