// A producer, a critic and the decision loop, over MCP as a coding agent would do it: to completion, to stagnation, and to
// the limit of refinements. Checks itself.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

type Reply = { readonly id: string; readonly status: string; readonly score?: number; readonly message?: string };

const data = mkdtempSync(join(tmpdir(), "ergon-refine-"));
const ergon = join(import.meta.dirname, "../../apps/ergon/src/cli.ts");
const tools = join(import.meta.dirname, "tools");
const args = [ergon, "mcp", "--data", data, "--capabilities", tools];
const client = new Client({ name: "refine-example", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: process.execPath, args }));

try {
  // Each round of this writer adds two of the things that the critic looks for.
  assert.deepEqual(await refine({ perRound: 2, from: 0 }), ["refine", "refine", "refine", "refine", "completed"]);
  // This one changes words and improves nothing.
  assert.deepEqual(await refine({ perRound: 0, from: 5 }), ["refine", "refine", "user_input"]);
  // This one improves, but too slowly for the five refinements that a plan may have.
  assert.deepEqual(await refine({ perRound: 1, from: 0 }), [...Array<string>(5).fill("refine"), "user_input"]);
  console.log("completed, stagnant and limited, as it should be");
} finally {
  await client.close();
  rmSync(data, { recursive: true, force: true });
}

async function refine({ perRound, from }: { readonly perRound: number; readonly from: number }): Promise<string[]> {
  const { id } = await call<Reply>("initialize_refinement_loop", { loop_type: "plan" });
  const statuses: string[] = [];
  for (let features = from; ; features += perRound) {
    const { finalResponse } = await call<{ readonly finalResponse: { readonly score: number } }>(
      "plan_draft_and_judge",
      {
        topic: "a ship's log",
        features,
      },
    );
    const reply = await call<Reply>("decide_loop_next_action", { loop_id: id, current_score: finalResponse.score });
    console.log(`${id} ${reply.status}: ${reply.message ?? ""}`);
    statuses.push(reply.status);
    if (reply.status !== "refine") return statuses;
  }
}

async function call<T>(name: string, given: Record<string, unknown>): Promise<T> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: given });
  assert.notEqual(isError, true, JSON.stringify(structuredContent));
  return structuredContent as T;
}
