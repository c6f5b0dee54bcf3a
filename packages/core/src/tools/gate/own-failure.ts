import type { Json, JsonObject } from "../../schema/values/json.ts";

export type OwnFailure = { readonly code: string; readonly message: string };

/** A result that says by itself that it is none (spec 2): `success: false`, and why. */
export function ownFailure(output: Json | undefined): OwnFailure | undefined {
  if (!isRecord(output) || output["success"] !== false) return undefined;
  const error = isRecord(output["error"]) ? output["error"] : {};
  const told = [error["message"], output["message"], output["error"]].find((text) => typeof text === "string");
  const message = typeof told === "string" && told.trim() !== "" ? told : "It did not succeed and did not say why.";
  return { code: typeof error["type"] === "string" ? error["type"] : "tool_failed", message };
}

function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
