// Runs every test, under Vitest and (core's) under Deno. The last line is "N passed, N failed".
// Words after `npm test --` pick the files whose path contains one of them.
import { startVitest, type TestCase, type Vitest } from "vitest/node";
import { runDenoTests, type TestCounts } from "../test/runtimes/deno.ts";
import { installSystemPackages } from "../test/system-packages.ts";

const filters = process.argv.slice(2);
const projects = ["unit", "e2e"];
installSystemPackages();

const results = [await runVitest(), runDenoTests(filters)];
const skipped = results.flatMap((result) => result.skipped);
const passed = sum(results.map((result) => result.passed));
const failed = sum(results.map((result) => result.failed)) + (isCi() ? skipped.length : 0);

for (const failure of results.flatMap((result) => result.failures)) console.log(`failed: ${failure}`);
for (const name of skipped) console.log(`skipped${isCi() ? " (CI allows none)" : ""}: ${name}`);
if (passed + failed === 0) console.log(`no test file matches ${filters.join(", ")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** What breaks outside a test (a file, a hook, the set-up) is none of its tests: then only Vitest's exit code tells. */
async function runVitest(): Promise<TestCounts> {
  const vitest = await startVitest(filters, { watch: false, project: projects, passWithNoTests: true });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  const passed = tests.filter((test) => test.result().state === "passed");
  const skipped = tests.filter((test) => test.result().state === "skipped");
  const failed = tests.filter((test) => !passed.includes(test) && !skipped.includes(test));
  return {
    passed: passed.length,
    failed: process.exitCode === undefined ? failed.length : Math.max(failed.length, 1),
    skipped: skipped.map(describeSkip),
    failures: [...failed.map(describeFailure), ...errorsOutside(vitest)],
  };
}

function describeFailure(test: TestCase): string {
  const messages = (test.result().errors ?? []).map((error) => error.message);
  return `${test.module.relativeModuleId}: ${test.fullName}\n${messages.join("\n")}`;
}

/** Of files, hooks and processes rather than of a test. */
function errorsOutside(vitest: Vitest): string[] {
  const modules = vitest.state.getTestModules().flatMap((module) => {
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    return [...module.errors(), ...suites].map((error) => `${module.relativeModuleId}: ${error.message}`);
  });
  const unhandled = vitest.state.getUnhandledErrors().map((error) => `outside any test: ${String(error)}`);
  return [...modules, ...unhandled];
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
