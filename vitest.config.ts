import { defineConfig } from "vitest/config";

const STATE_FOLDER = "test/state-folder.ts";
// Only what hangs meets these: on a busy machine a process may take seconds to start.
const patience = { testTimeout: 60_000, hookTimeout: 60_000 };

// Whole files of minutes run in `npm run test:long` alone.
const exclude =
  process.env["ERGON_LONG"] === "1" ? ["**/node_modules/**"] : ["**/node_modules/**", "**/*.long.test.ts"];

const atRoot = (name: string, include: string[], globalSetup: string[] = []) => ({
  test: { name, include, exclude, globalSetup: [STATE_FOLDER, ...globalSetup], ...patience },
});

export default defineConfig({
  test: {
    // By itself it leaves a core free, which on two cores doubles the time.
    maxWorkers: "100%",
    // Files of a project share processes and what these have loaded: to load all of it anew for each takes as long as its
    // tests. So no test may count on what a module remembers.
    isolate: false,
    projects: [
      {
        test: {
          name: "unit",
          globalSetup: [STATE_FOLDER],
          include: ["{packages,apps}/*/{src,testing}/**/*.test.ts", "{capabilities,supabase}/**/*.test.ts"],
          ...patience,
        },
      },
      atRoot("e2e", ["test/e2e/**/*.test.ts"], ["test/e2e/ensure-built.ts"]),
      atRoot("architecture", ["test/architecture/**/*.test.ts"]),
    ],
  },
});
