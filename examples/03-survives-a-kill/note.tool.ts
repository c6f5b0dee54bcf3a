// Writes down every time it is called, with the key by which a service could tell a repeated call from a new one.
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

export const definition = {
  id: "example::note",
  description: "Notes an item in a log file.",
  parameters: { type: "object", properties: { item: {} }, required: ["item"] },
  effects: "idempotent",
};

export const implementation = async ({ item }: { item: unknown }, run: { idempotencyKey: string }) => {
  appendFileSync(process.env["EXAMPLE_LOG"] ?? "calls.log", `${JSON.stringify({ key: run.idempotencyKey, item })}\n`);
  await setTimeout(100);
  return { noted: item };
};
