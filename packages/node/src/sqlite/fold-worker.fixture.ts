// The thread that folds, with what may become of it: FOLD_FATE says what, the second task meets it. Each task leaves a
// mark beside the database, so that a test knows that it was this thread that folded.
import { appendFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { FoldThreadData } from "./fold-thread.ts";

const { path } = workerData as FoldThreadData;
const fate = process.env["FOLD_FATE"] ?? "works";
if (fate === "breaks at its start") throw new Error("It does not start.");
let tasks = 0;

parentPort?.on("message", () => {
  tasks += 1;
  appendFileSync(`${path}-tasks`, ".");
  if (tasks === 2 && fate === "dies before it folds") process.exit(1);
  if (tasks === 2 && fate === "never ends") for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (fate === "tells of trouble meanwhile") parentPort?.postMessage({ kind: "trouble", error: "The disk is full." });
  if (fate === "is slow") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
});
await import("./fold-worker.ts");
parentPort?.on("message", () => {
  if (tasks === 2 && fate === "dies when it has folded") process.exit(1);
});
