import { setTimeout as sleep } from "node:timers/promises";
import { isErgonError, type Json, type SessionCore } from "@ergon/core";
import type { OpenWait } from "@ergon/core/schema";
import type { Engine } from "@ergon/core/engine";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { Owners } from "./owners.ts";
import type { Script } from "./scripts.ts";

export type Tally = {
  answers: number;
  /** Times that a person was asked what became of a call, by what they said. */
  happened: number;
  retried: number;
};

export type People = {
  /** Starts a session and answers for it until it has completed, whichever process drives it. */
  readonly see: (sessionId: string, script: Script) => Promise<void>;
  readonly tally: Tally;
};

/** A session that has settled nothing in this time is asked about anew. */
const PATIENCE_MS = 2_000;
const NEXT_OWNER_MS = 5;

export function createPeople(owners: Owners, wasSent: (sessionId: string, label: string) => boolean): People {
  const tally: Tally = { answers: 0, happened: 0, retried: 0 };

  async function step(engine: Engine, sessionId: string, script: Script): Promise<"completed" | "open"> {
    const session = { owner: FIRST_PRINCIPAL, sessionId };
    await startOnce(engine, sessionId, script);
    const core = await engine.settled({ ...session, timeoutMs: PATIENCE_MS });
    if (core.status === "completed") return "completed";
    if (core.status === "failed" || core.status === "cancelled") throw unexpected(core);
    for (const wait of core.waiting) {
      const input = answer(core, wait, script);
      if (input === undefined) continue;
      await engine.resume({ ...session, step: wait.path, input }).catch((thrown: unknown) => {
        // An answer whose acknowledgement was lost with its process is given again, and nobody waits for it.
        if (!isErgonError(thrown) || thrown.code !== "wait_not_open") throw thrown;
      });
    }
    return "open";
  }

  function answer(core: SessionCore, wait: OpenWait, script: Script): Json | undefined {
    if (wait.kind === "time") return undefined;
    if (wait.kind === "human") {
      tally.answers += 1;
      return script.answer(wait);
    }
    if (wait.error?.code !== "outcome_unknown") throw unexpected(core);
    const label = script.sends(wait.path);
    if (wasSent(core.sessionId, label)) {
      tally.happened += 1;
      return { happened: { sent: label } };
    }
    tally.retried += 1;
    return { action: "retry" };
  }

  return {
    tally,
    see: async (sessionId, script) => {
      for (;;) {
        const engine = await owners.engine();
        try {
          if ((await step(engine, sessionId, script)) === "completed") return;
        } catch (thrown) {
          if (!isErgonError(thrown) || thrown.code !== "owner_gone") throw thrown;
          await sleep(NEXT_OWNER_MS);
        }
      }
    },
  };
}

/** A request whose answer was lost may have started it. */
async function startOnce(engine: Engine, sessionId: string, { planId, input }: Script): Promise<void> {
  try {
    await engine.settled({ owner: FIRST_PRINCIPAL, sessionId, timeoutMs: 0 });
  } catch (thrown) {
    if (!isErgonError(thrown) || thrown.code !== "session_not_found") throw thrown;
    await engine.executePlan({ owner: FIRST_PRINCIPAL, sessionId, plan: planId, input, create: true });
  }
}

function unexpected({ sessionId, status, lastError, waiting }: SessionCore): Error {
  return new Error(`Session ${sessionId} is ${status}: ${JSON.stringify(lastError ?? waiting)}`);
}
