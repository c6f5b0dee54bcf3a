// Vitest's global set-up for the end-to-end tests: what the launcher runs is built from the sources as they are now.
export { buildDist as setup } from "../../scripts/build-dist.ts";
