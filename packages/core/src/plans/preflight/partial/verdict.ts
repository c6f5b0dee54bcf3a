/** What is known of a value with gaps: `unknown` may turn out either way once the gaps are filled. */
export type Verdict = "valid" | "invalid" | "unknown";

/** All must hold. */
export function both(a: Verdict, b: Verdict): Verdict {
  if (a === "invalid" || b === "invalid") return "invalid";
  return a === "unknown" || b === "unknown" ? "unknown" : "valid";
}
