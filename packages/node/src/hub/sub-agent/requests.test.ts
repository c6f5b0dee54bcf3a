import { expect, it } from "vitest";
import { type KeptRequest, MAX_ENDED_REQUESTS, openSubAgentRequests } from "./requests.ts";

const kept = (n: number, state: KeptRequest["status"]["state"]): KeptRequest => ({
  request: { id: String(n), type: "search_servers", params: { query: "x" }, timestamp: "2026-01-01", priority: "low" },
  owner: "ada",
  status: { requestId: String(n), state, progress: 0, message: "", energyConsumed: 0 },
  drained: 0,
});

it("keeps requests that have ended up to a bound, the newest of them, and all that have not", async () => {
  const requests = openSubAgentRequests({ path: ":memory:" });
  await requests.put(kept(0, "awaiting_approval"));
  for (let n = 1; n <= MAX_ENDED_REQUESTS + 1; n++) await requests.put(kept(n, "completed"));
  const ids = (await requests.load()).map(({ request }) => request.id);
  expect(ids).toHaveLength(MAX_ENDED_REQUESTS + 1);
  expect(ids.slice(0, 2)).toEqual(["0", "2"]);
  await requests.close();
});
