import { buildDist } from "./build-dist.ts";

try {
  await buildDist();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error("Ergon is not built.");
  process.exitCode = 1;
}
