import { type Json, SubAgentRequest, SubAgentStatus } from "@ergon/core";
import { z } from "zod";
import type { DatabaseSchema } from "../../sqlite/open-database.ts";
import { openSmallDatabase } from "../../sqlite/small-database.ts";
import { Prepared } from "./desk.ts";

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

/** The sub-agent's requests, in a file of their own. */
export function openSubAgentRequests({ path }: { readonly path: string }): SubAgentRequests {
  const { all, run, acting, close } = openSmallDatabase({
    path,
    schema: SCHEMA,
    what: "sub-agent's store",
    durable: true,
  });
  return {
    load: () =>
      acting("reading the sub-agent's requests", () =>
        all<{ text: string }>("SELECT text FROM requests ORDER BY n").map(({ text }) =>
          KeptRequest.parse(JSON.parse(text) as Json),
        ),
      ),
    put: (kept) =>
      acting("keeping a request to the sub-agent", () => {
        const { requestId, state } = kept.status;
        const ended = ENDED.has(state) ? 1 : 0;
        run(
          `INSERT INTO requests (id, ended, text) VALUES (?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, text = excluded.text`,
          requestId,
          ended,
          JSON.stringify(kept),
        );
        if (ended === 0) return;
        run(
          "DELETE FROM requests WHERE n IN (SELECT n FROM requests WHERE ended = 1 ORDER BY n DESC LIMIT -1 OFFSET ? + 0)",
          MAX_ENDED_REQUESTS,
        );
      }),
    close,
  };
}

export const ENDED: ReadonlySet<SubAgentStatus["state"]> = new Set(["completed", "failed", "cancelled"]);

/** "Ergs" in the file's header. */
const SCHEMA: DatabaseSchema = {
  applicationId: 0x45726773,
  migrations: [
    {
      version: 1,
      sql: `
CREATE TABLE requests (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  ended INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX requests_by_end ON requests (ended, n);
`,
    },
  ],
};
