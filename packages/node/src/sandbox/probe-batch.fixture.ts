// Many probes in one execution: to start a python for each takes a hundred times what the probes themselves take. Each
// goes through what runs any code there, so that it meets the same built-ins, names and rules as alone; one that ends
// the runtime loses them all. (In javascript the first import that is refused would spoil the next: there each is alone.)
import type { JsonObject, Sandbox, SandboxProfileName } from "@ergon/core";
import { z } from "zod";

export type BatchedProbe = { readonly name: string; readonly code: string; readonly inputs: JsonObject };

/** What a probe came to, as text: JSON after "+", or why there is none after "-". */
const Said = z.record(z.string(), z.string().regex(/^[+-]/));

const PYTHON = `
import sys
ergon_batch = [inputs["probes"], sys.modules.get("_ergon") or sys.modules["run_code"], {}]
for ergon_probe in ergon_batch[0]:
  ergon_batch[2][ergon_probe["name"]] = await ergon_batch[1].run(ergon_probe["code"], ergon_probe["inputs"])
ergon_batch[2]`;

const BATCH_MS = 120_000;
const CONTROL = "a control that reaches what it may";

/** What each came to; that the last of them answers shows that they were heard. */
export async function runBatch(
  sandbox: Sandbox,
  profile: SandboxProfileName,
  probes: readonly BatchedProbe[],
): Promise<ReadonlyMap<string, string>> {
  const all = [...probes, { name: CONTROL, code: "6 * 7", inputs: {} }];
  const result = await sandbox.execute({
    language: "python",
    profile,
    code: PYTHON,
    timeoutMs: BATCH_MS,
    inputs: { probes: all.map((probe) => ({ ...probe, inputs: JSON.stringify(probe.inputs) })) },
  });
  if (result.status !== "success") throw new Error(`A probe ended its batch: ${JSON.stringify(result)}`);
  const said = Said.parse(result.returnValue);
  if (said[CONTROL] !== "+42") throw new Error(`The batch says of its control: ${String(said[CONTROL])}`);
  return new Map(Object.entries(said));
}
