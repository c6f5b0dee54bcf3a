// What the sessions do, and what the people in them answer.
import type { Json, JsonObject } from "@ergon/core";
import type { OpenWait } from "@ergon/core/schema";

export type Script = {
  readonly planId: string;
  readonly input: JsonObject;
  /** A person's answer to a question. */
  readonly answer: (wait: OpenWait) => Json;
  /** What the call at this place was to send: whoever is asked whether it happened knows what to look for. */
  readonly sends: (path: string) => string;
};

/** How long a tool of the fixture takes. */
const WORK_MS = [10, 20, 40] as const;

/** The same number gives the same script: two sessions of one script come to the same. */
export function scriptOf(number: number): Script {
  const name = `script ${String(number)}`;
  const ms = WORK_MS[number % WORK_MS.length] ?? 0;
  switch (number % 3) {
    case 0: {
      const labels = Array.from({ length: 6 + (number % 4) }, (_, n) => `${name} ${"o".repeat(n)}`);
      return {
        planId: "orders",
        input: { name, ms, large: name.length + 4, labels },
        answer: () => ({ receipt: number % 2 === 0 }),
        sends: (path) => labels[indexIn(path, "each")] ?? "",
      };
    }
    case 1:
      return {
        planId: "inspection",
        input: { name, ms, parts: Array.from({ length: 4 + (number % 3) }, (_, n) => `part ${String(n)}`) },
        answer: () => ({ label: `letter of ${name}` }),
        sends: () => `letter of ${name}`,
      };
    default: {
      const voters = Array.from({ length: 5 + (number % 2) }, (_, n) => `voter ${String(n)}`);
      return {
        planId: "votes",
        input: { name, ms, turns: 4, voters },
        answer: ({ path }) => ({ yes: indexIn(path, "ask") % 2 === 0 }),
        sends: () => name,
      };
    }
  }
}

/** Of the turn that a path like `each[3]/send` leads into. */
function indexIn(path: string, stepId: string): number {
  const [, index] = new RegExp(`^${stepId}\\[(\\d+)\\]/`).exec(path) ?? [];
  if (index === undefined) throw new Error(`"${path}" does not lead into "${stepId}".`);
  return Number(index);
}
