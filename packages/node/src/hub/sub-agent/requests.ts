import type { Json } from "@ergon/core";
import { SubAgentRequest, SubAgentStatus } from "@ergon/core/hub";
import { z } from "zod";
import { openSmallStore, type StorePlace } from "../../sqlite/stores/small-store.ts";
import { Prepared } from "./sub-agent-host.ts";

/** Ended requests are kept for those who ask later; the oldest go first. */
export const MAX_ENDED_REQUESTS = 1_000;

/** A request, what has become of it, and what is needed to go on after a restart. */
export const KeptRequest = z.object({
  request: SubAgentRequest,
  owner: z.string(),
  status: SubAgentStatus,
  /** Of what it consumed, how much the loop has been told. */
  drained: z.number(),
  prepared: Prepared.optional(),
});
export type KeptRequest = z.infer<typeof KeptRequest>;

export type SubAgentRequests = {
  readonly load: () => Promise<readonly KeptRequest[]>;
  readonly put: (kept: KeptRequest) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Whether an earlier process kept any: most folders have none, and need no sub-agent. */
export function hasSubAgentRequests(place: StorePlace): boolean {
  return "database" in place && place.database.all("SELECT 1 FROM sub_agent_requests LIMIT 1").length > 0;
}

/** The sub-agent's requests. */
export function openSubAgentRequests(place: StorePlace): SubAgentRequests {
  const { all, run, acting, reading, close } = openSmallStore(place, { what: "sub-agent's store", durable: true });
  return {
    load: () =>
      reading("reading the sub-agent's requests", () =>
        all<{ text: string }>("SELECT text FROM sub_agent_requests ORDER BY n").map(({ text }) =>
          KeptRequest.parse(JSON.parse(text) as Json),
        ),
      ),
    put: (kept) =>
      acting("keeping a request to the sub-agent", () => {
        const { requestId, state } = kept.status;
        const ended = ENDED.has(state) ? 1 : 0;
        run(
          `INSERT INTO sub_agent_requests (id, ended, text) VALUES (?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, text = excluded.text`,
          requestId,
          ended,
          JSON.stringify(kept),
        );
        if (ended === 0) return;
        run(
          "DELETE FROM sub_agent_requests WHERE n IN (SELECT n FROM sub_agent_requests WHERE ended = 1 ORDER BY n DESC LIMIT -1 OFFSET ? + 0)",
          MAX_ENDED_REQUESTS,
        );
      }),
    close,
  };
}

export const ENDED: ReadonlySet<SubAgentStatus["state"]> = new Set(["completed", "failed", "cancelled"]);
