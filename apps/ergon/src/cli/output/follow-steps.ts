import { setTimeout as sleep } from "node:timers/promises";
import type { Json, JsonObject, StoredEvent } from "@ergon/core";
import { decodePosition, type Engine } from "@ergon/core/engine";
import { oneLine } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** Events that were committed are shown before the answer, if they come within this time. */
const CATCH_UP_MS = 2_000;
const CATCH_UP_POLL_MS = 5;

/** How far steps have been shown: by number, or by time where no number is known yet. */
export type Seen = { seq: number | "now"; readonly at: string };

const MAX_SHOWN_ARGS = 200;

export type StepFollower = {
  /** Resolves when everything up to that moment has been shown. */
  readonly caughtUp: (at: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Shows the steps of one session, or of all, on stderr as they happen, those after `seen`, which moves along. */
export function followSteps(
  terminal: Terminal,
  engine: Engine,
  session: { readonly owner: string; readonly sessionId?: string; readonly seen: Seen },
): StepFollower {
  const { owner, sessionId, seen } = session;
  const stopping = new AbortController();
  let shownAt = "";
  const follow = async (): Promise<void> => {
    const ofSession = sessionId === undefined ? {} : { sessionId };
    for await (const event of engine.follow({ owner, ...ofSession, afterSeq: seen.seq, signal: stopping.signal })) {
      seen.seq = event.seq;
      if (event.at <= seen.at) continue;
      if (event.type.startsWith("session-")) shownAt = event.at;
      if (event.type === "step-progressed") {
        terminal.status(progressOf(event.data));
        continue;
      }
      const line = describe(terminal, event) ?? (sessionId === undefined ? describeStatus(event) : undefined);
      if (line === undefined) continue;
      terminal.status("");
      terminal.note(sessionId === undefined ? `${terminal.errorColors.dim(event.sessionId ?? "")} ${line}` : line);
    }
  };
  // When following breaks, so does the work itself, and that is what is reported.
  const following = terminal.json ? Promise.resolve() : follow().catch(() => undefined);
  return {
    caughtUp: async (at) => {
      if (terminal.json) return;
      for (let waitedMs = 0; shownAt < at && waitedMs < CATCH_UP_MS; waitedMs += CATCH_UP_POLL_MS)
        await sleep(CATCH_UP_POLL_MS);
    },
    stop: async () => {
      stopping.abort();
      await following;
      terminal.status("");
    },
  };
}

function describe(terminal: Terminal, { type, data }: StoredEvent): string | undefined {
  const { dim, green, red, yellow } = terminal.errorColors;
  switch (type) {
    case "step-started":
      return Number(data["attempt"]) > 1 ? dim(`… ${stepOf(data)}, attempt ${text(data, "attempt")}`) : undefined;
    case "step-finished":
      if (data["failure"] !== undefined) return failed(red("✗"), data, data["failure"]);
      return `${green("✓")} ${stepOf(data)} ${dim(text(data, "toolId"))}${data["reused"] === undefined ? "" : dim(` (as found at ${text(data, "reused")})`)}`;
    case "step-failed":
      return failed(data["willRetry"] === true ? yellow("↻") : red("✗"), data, data["error"]);
    case "correction-proposed":
      return `${yellow("⚑")} ${text(data, "path")} ${data["needsApproval"] === true ? "may be corrected: " : ""}${text(data, "summary")}`;
    case "correction-applied":
      return dim(`⚒ ${text(data, "path")} corrected by ${text(data, "correctionId")} (${text(data, "strategy")})`);
    case "approval-requested":
      return `${yellow("?")} ${text(data, "path")} needs your approval: ${text(data, "toolId")} ${dim(text(data, "approvalId"))}`;
    case "approval-decided":
      return dim(`${data["state"] === "approved" ? "✓" : "✗"} ${text(data, "approvalId")} ${text(data, "state")}`);
    case "plan-made":
      return describePlan(terminal, data);
    default:
      return undefined;
  }

  function failed(mark: string, step: JsonObject, error: Json | undefined): string {
    const { code, message } = (error ?? {}) as { readonly code?: string; readonly message?: string };
    return `${mark} ${stepOf(step)} ${dim(code ?? "")} ${oneLine(message ?? "")}`;
  }
}

/** Where all sessions are shown, what becomes of each is shown as well. */
function describeStatus({ type }: StoredEvent): string | undefined {
  return type.startsWith("session-") ? type.slice("session-".length) : undefined;
}

/** What the planner decided, before any of it runs. */
function describePlan(terminal: Terminal, data: JsonObject): string | undefined {
  const { dim } = terminal.errorColors;
  const plan = (data["plan"] ?? []) as readonly JsonObject[];
  if (plan.length === 0) return undefined;
  const lines = plan.map((action, at) => {
    const args = JSON.stringify(action["args"] ?? {});
    const shown = args === "{}" ? "" : ` ${oneLine(args).slice(0, MAX_SHOWN_ARGS)}`;
    return `  ${String(at + 1)}. ${text(action, "tool")}${shown} ${dim(text(action, "announcement"))}`.trimEnd();
  });
  return [`plan ${dim(`(${text(data, "planner")})`)}`, ...lines].join("\n");
}

/** A step, and in a loop or a branch which turn of it: `greet[2]`, as paths count. */
function stepOf(data: JsonObject): string {
  const [, , ...inner] = decodePosition(text(data, "position"));
  // Between two places in lists of steps stands the turn that has the inner list.
  const turns = inner.filter((_, at) => at % 2 === 0).map((turn) => `[${String(turn)}]`);
  return `${text(data, "stepId")}${turns.join("")}`;
}

function text(data: JsonObject, key: string): string {
  const value = data[key];
  return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
}

function progressOf(data: JsonObject): string {
  const percent = typeof data["fraction"] === "number" ? ` ${Math.round(data["fraction"] * 100)} %` : "";
  return `… ${stepOf(data)}${percent} ${text(data, "message")}`;
}
