// Builds what the launcher runs, then runs every test, under Vitest and (core's) under Deno. The last line is
// "N passed, N failed".
// Words after `npm test --` pick the files whose path contains one of them.
import { startVitest, type TestCase } from "vitest/node";
import { buildDist } from "./build-dist.ts";
import { runDenoTests, type TestCounts } from "../test/runtimes/deno.ts";

const filters = process.argv.slice(2);
const projects = ["unit", "e2e"];

const results = [await runBuild(), await runVitest(), runDenoTests(filters)];
const skipped = results.flatMap((result) => result.skipped);
const passed = sum(results.map((result) => result.passed));
const failed = sum(results.map((result) => result.failed)) + (isCi() ? skipped.length : 0);

for (const name of skipped) console.log(`skipped${isCi() ? " (CI allows none)" : ""}: ${name}`);
if (passed + failed === 0) console.log(`no test file matches ${filters.join(", ")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** A build that fails is a failure like any other, but no reason to run nothing. */
async function runBuild(): Promise<TestCounts> {
  try {
    await buildDist();
    return { passed: 0, failed: 0, skipped: [] };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1, skipped: [] };
  }
}

async function runVitest(): Promise<TestCounts> {
  const vitest = await startVitest(filters, { watch: false, project: projects, passWithNoTests: true });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const broken =
    modules.filter((module) => module.errors().length > 0).length + vitest.state.getUnhandledErrors().length;
  await vitest.close();
  return {
    passed: tests.filter((test) => test.result().state === "passed").length,
    failed: tests.filter((test) => test.result().state === "failed").length + broken,
    skipped: tests.filter((test) => test.result().state === "skipped").map(describeSkip),
  };
}

function describeSkip(test: TestCase): string {
  const result = test.result();
  const reason = result.state === "skipped" ? result.note : undefined;
  return `${test.module.relativeModuleId}: ${test.fullName}: ${reason ?? "no reason given"}`;
}

function isCi(): boolean {
  return (process.env["CI"] ?? "") !== "";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, next) => total + next, 0);
}
