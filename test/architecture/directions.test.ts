import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readText, root } from "./source-files.ts";

const Report = z.object({
  summary: z.object({
    violations: z.array(z.object({ rule: z.object({ name: z.string() }), from: z.string(), to: z.string() })),
  }),
});

// One wrong import per rule, and the right ones that look most like them: rules that match nothing guard nothing.
const wrong = [
  ["packages/core/src/schema/a.ts", "../errors/e.ts", "core-schema-sees-only-folders-before-it"],
  ["packages/core/src/ports/a.ts", "../memory/m.ts", "core-ports-sees-only-folders-before-it"],
  ["packages/core/src/tools/a.ts", "../plans/p.ts", "core-tools-sees-only-folders-before-it"],
  ["packages/core/src/tools/b.ts", "../index.ts", "core-tools-sees-only-folders-before-it"],
  ["packages/core/src/tools/c.ts", "../extra/x.ts", "core-has-only-folders-of-the-design"],
  ["packages/core/src/tools/d.ts", "node:fs", "core-has-no-node-import"],
  ["packages/core/src/tools/e.ts", "@ergon/node", "core-sees-no-one-else"],
  ["packages/core/src/tools/f.ts", "../../testing/t.ts", "core-sources-see-no-test-code"],
  ["packages/core/src/planner/a.ts", "@ergon/offline-planner", "core-sees-no-one-else"],
  ["packages/offline-planner/src/a.ts", "@ergon/core", "offline-planner-sees-core-by-type-only"],
  ["packages/offline-planner/src/b.ts", "node:fs", "core-has-no-node-import"],
  ["packages/offline-planner/src/c.ts", "@ergon/node", "offline-planner-sees-the-entry-of-core"],
  ["packages/node/src/sqlite/e.ts", "@ergon/offline-planner", "only-core-sees-the-offline-planner"],
  ["packages/node/src/sqlite/a.ts", "../../../core/src/errors/e.ts", "node-sees-core-by-its-entry"],
  ["packages/node/src/sqlite/b.ts", "../../../core/src/index.ts", "packages-are-imported-by-name"],
  ["packages/node/src/sqlite/c.ts", "@ergon/core/testing", "testing-is-for-tests"],
  ["packages/node/src/sqlite/d.ts", "../../../../apps/ergon/src/cli.ts", "node-sees-no-app"],
  ["apps/ergon/src/commands/a.ts", "../../../../packages/node/src/sqlite/s.ts", "apps-see-packages-by-their-entry"],
  ["apps/ergon/src/cli/b.ts", "../compose/b.ts", "compose-is-for-entry-points"],
  ["apps/ergon/src/commands/c.ts", "../../../../scripts/s.ts", "apps-see-no-other-root-folder"],
  ["capabilities/tools/demo/a.tool.ts", "@ergon/node", "packs-see-only-the-entry-of-core"],
  ["capabilities/tools/demo/a.test.ts", "../../../apps/ergon/src/cli.ts", "tests-of-packs-see-only-entries"],
  ["packages/core/src/energy/a.ts", "./circle.ts", "no-circle"],
  ["packages/core/src/energy/c.ts", "./absent.ts", "no-unresolved-import"],
] as const;
const right = [
  ["packages/core/src/errors/r.ts", "../schema/s.ts"],
  ["packages/core/src/tools/r.ts", "../memory/m.ts"],
  ["packages/core/src/tools/r.test.ts", "../../testing/t.ts"],
  ["packages/core/src/index.ts", "./plans/p.ts"],
  ["packages/core/src/planner/default-planner.ts", "@ergon/offline-planner"],
  ["packages/offline-planner/src/r.test.ts", "@ergon/core"],
  ["packages/node/src/sqlite/r.ts", "@ergon/core"],
  ["packages/node/src/sqlite/r2.ts", "node:fs"],
  ["packages/node/src/sqlite/r.test.ts", "@ergon/core/testing"],
  ["packages/node/src/sqlite/t.test.ts", "@ergon/core/testing/contracts"],
  ["apps/ergon/src/commands/r.ts", "@ergon/node"],
  ["apps/ergon/src/cli.ts", "./compose/compose.ts"],
  ["capabilities/tools/demo/r.tool.ts", "@ergon/core"],
  ["capabilities/tools/demo/r.test.ts", "@ergon/node"],
] as const;

let home: string;
let violations: { rule: { name: string }; from: string }[];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "ergon-directions-"));
  writeWorkspace();
  const { stdout } = spawnSync(
    join(root, "node_modules/.bin/depcruise"),
    ["--config", join(root, ".dependency-cruiser.js"), "--output-type", "json", "packages", "apps", "capabilities"],
    { cwd: home, encoding: "utf8" },
  );
  violations = Report.parse(JSON.parse(stdout)).summary.violations;
}, 30_000);

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("import directions", () => {
  it.each(wrong)("%s must not import %s: %s", (from, _, rule) => {
    expect(violations.filter((found) => found.from === from).map((found) => found.rule.name)).toContain(rule);
  });

  it.each(right)("%s may import %s", (from) => {
    expect(violations.filter((found) => found.from === from)).toEqual([]);
  });
});

function writeWorkspace(): void {
  for (const file of ["schema/s", "errors/e", "memory/m", "plans/p", "extra/x"]) write(`packages/core/src/${file}.ts`);
  for (const file of ["t", "index", "contracts"]) write(`packages/core/testing/${file}.ts`);
  for (const file of ["node/src/index", "node/src/sqlite/s", "offline-planner/src/index"]) write(`packages/${file}.ts`);
  for (const file of ["apps/ergon/src/compose/compose.ts", "apps/ergon/src/compose/b.ts", "scripts/s.ts"]) write(file);
  for (const [file, specifier] of [...wrong, ...right]) write(file, `import ${JSON.stringify(specifier)};\n`);
  write("packages/core/src/energy/circle.ts", `import "./a.ts";\n`);
  write("tsconfig.json", readText("tsconfig.base.json"));
  mkdirSync(join(home, "node_modules/@ergon"), { recursive: true });
  for (const name of ["core", "node", "offline-planner"]) {
    write(`packages/${name}/package.json`, readText(`packages/${name}/package.json`));
    symlinkSync(`../../packages/${name}`, join(home, "node_modules/@ergon", name));
  }
}

function write(file: string, text = "export {};\n"): void {
  mkdirSync(dirname(join(home, file)), { recursive: true });
  writeFileSync(join(home, file), text);
}
