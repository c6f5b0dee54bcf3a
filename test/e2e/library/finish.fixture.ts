// Follows a run that an earlier process began to its end, and ends by itself: nothing is left open.
import { openErgon } from "ergon";
import { shop } from "./shop.ts";

const [, , data = "", , , id = ""] = process.argv;
const ergon = await openErgon({ data, ...shop });
const run = await ergon.get(id);
for await (const event of run.events()) console.log(event.type);
const state = await run.settled();
console.log(`${state.status} ${state.waiting.map(({ message }) => message).join()}`);
await run.answer({ ok: true }, { step: "confirm" });
console.log(await run.result());
await ergon.close();
