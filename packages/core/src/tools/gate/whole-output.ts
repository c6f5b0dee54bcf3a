import { isBlobRef } from "../../schema/blob.ts";
import type { Json } from "../../schema/values/json.ts";
import type { CallOutcome } from "./call.ts";

/** What a call gave, also where it is so large that it is about to be a blob; undefined when only a reference is at hand. */
export function wholeOutput(outcome: Extract<CallOutcome, { kind: "ok" }>): Json | undefined {
  const { output, blobs } = outcome;
  if (!isBlobRef(output)) return output;
  const bytes = blobs.find(({ ref }) => ref.$blob === output.$blob)?.bytes;
  return bytes === undefined ? undefined : (JSON.parse(new TextDecoder().decode(bytes)) as Json);
}
