// One process: loads the csv and correlates its numbers, as the tools do, with blobs in files. Prints what it took.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { createToolRun } from "@ergon/core/testing";
import { openFileBlobStore } from "@ergon/node";
import { implementation as correlate } from "../capabilities/tools/quick-data/find_correlations/find_correlations.tool.ts";
import { implementation as load } from "../capabilities/tools/quick-data/load_dataset/load_dataset.tool.ts";

const [, , file = ""] = process.argv;
const folder = join(dirname(file), `blobs-${String(process.pid)}`);
mkdirSync(folder);
const store = openFileBlobStore({ folder });
const run = createToolRun({
  logger: createMemoryLogger(),
  dataRoots: [dirname(file)],
  blobs: { put: (bytes, mediaType) => store.put(bytes, mediaType), get: ({ $blob }) => store.get($blob) },
});

const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
const dataset = await load({ filePath: file }, run);
const loadedAt = performance.now();
const { pairCount } = await correlate({ dataset, minimum: 0 }, run);
const doneAt = performance.now();
const cpu = process.cpuUsage(cpuBefore);
console.log(
  JSON.stringify({
    rows: dataset.rowCount,
    pairs: pairCount,
    loadMs: loadedAt - startedAt,
    correlateMs: doneAt - loadedAt,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    maxRssBytes: process.resourceUsage().maxRSS * 1024,
  }),
);
