import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImportedModule } from "./import-module.ts";

const TIMEOUT_MS = 1_000;
const FILE = "x.ts";
const MODULE = `import { z } from "zod"; import { ErgonError } from "@ergon/core";
  export const shape = Object.keys(z.object({ a: z.string() }).shape);
  export const same = z === globalThis.ourZod && ErgonError === globalThis.OurError;`;
const TYPESCRIPT = `import type { Tool } from "@ergon/core"; type Args = { a: string };\n${MODULE}`;
const COMMON_JS = `const { z } = require("zod"); const other = require("./other");
  exports.shape = Object.keys(z.object({ a: z.string() }).shape); exports.same = z === globalThis.ourZod && other;`;
const OTHER = { "other.js": "module.exports = true;" };
const WORKS = { shape: ["a"], same: true };

/** Files of one capability folder; the first is the one to load. */
type Files = Readonly<Record<string, string>>;

const GOOD: Readonly<Record<string, readonly [Files, Readonly<Record<string, unknown>>]>> = {
  "with no package.json": [{ [FILE]: TYPESCRIPT }, WORKS],
  "after npm init -y": [
    { [FILE]: TYPESCRIPT, "package.json": `{"name": "x", "version": "1.0.0", "main": "index.js"}` },
    WORKS,
  ],
  "of type commonjs": [{ [FILE]: TYPESCRIPT, "package.json": `{"type": "commonjs"}` }, WORKS],
  "of type module": [{ [FILE]: TYPESCRIPT, "package.json": `{"type": "module"}` }, WORKS],
  "under node_modules": [{ "node_modules/pack/x.ts": TYPESCRIPT }, WORKS],
  "a module in .js, of type commonjs": [{ "x.js": MODULE, "package.json": `{"type": "commonjs"}` }, WORKS],
  "CommonJS in .js": [{ "x.js": COMMON_JS, ...OTHER }, WORKS],
  "CommonJS in .js, of type module": [{ "x.js": COMMON_JS, "package.json": `{"type": "module"}`, ...OTHER }, WORKS],
  "with neighbours by the names that TypeScript knows": [
    {
      [FILE]: `import { a } from "./a.js"; import { b } from "./b"; import { c } from "./c.ts"; export const sum: number = a + b + c;`,
      ...Object.fromEntries(["a", "b", "c"].map((name) => [`${name}.ts`, `export const ${name}: number = 1;`])),
    },
    { sum: 3 },
  ],
  "with installed packages, which keep their own zod": [
    {
      [FILE]: `import own from "own"; import { z } from "zod"; export const result = [own, z === globalThis.ourZod];`,
      "node_modules/own/package.json": `{"name": "own", "main": "index.js"}`,
      "node_modules/own/index.js": `module.exports = require("zod").version;`,
      "node_modules/zod/package.json": `{"name": "zod", "main": "index.js"}`,
      "node_modules/zod/index.js": `exports.version = "their own";`,
    },
    { result: ["their own", true] },
  ],
  "with zod's other doors": [
    {
      [FILE]: `import * as mini from "zod/mini"; import { z } from "zod/v4"; export const kinds = [typeof mini.object, typeof z.object];`,
    },
    { kinds: ["function", "function"] },
  ],
};

const BROKEN: Readonly<Record<string, readonly [Files, RegExp, number?]>> = {
  "TypeScript syntax": [{ [FILE]: "const a = 1;\n\nexport const b: = 2;" }, /^Syntax error at line 3: /, 3],
  "TypeScript that is more than types": [
    { [FILE]: "\nenum A { B }\nexport {};" },
    /^Syntax error at line 2: .*enum/,
    2,
  ],
  "module syntax": [{ "x.js": "export const a = 1;\nexport const b = {;" }, /^Syntax error at line 2: /, 2],
  "CommonJS syntax": [{ "x.js": "exports.a = 1;\n\n\nexports.b = (;" }, /^Syntax error at line 4: /, 4],
  "a throw": [
    { [FILE]: "const a = 1;\nthrow new RangeError('no luck');" },
    /^It threw while loading at line 2: no luck$/,
    2,
  ],
  "a throw in CommonJS of type module": [
    { "x.js": "\nthrow new Error('no luck');", "package.json": `{"type": "module"}` },
    /^It threw while loading at line 2: no luck$/,
    2,
  ],
  "a throw of no error": [{ [FILE]: "throw { a: 1 };" }, /^It threw \{"a":1\} while loading\.$/],
  "a missing package": [{ [FILE]: `import "no-such-package";` }, /^Cannot find package 'no-such-package'/],
  "a missing neighbour": [{ [FILE]: `import "./gone.ts";` }, /^Cannot find module .*gone\.ts/],
  "a type imported as a value": [
    { [FILE]: `import { Logger } from "@ergon/core";\nexport const a: Logger | null = null;` },
    /If Logger is a type, write "import type"/,
  ],
  "a wait without end": [
    { [FILE]: "setInterval(() => {}, 1000);\nawait new Promise(() => {});" },
    /took more than 1 s/,
  ],
};

let folder: string;
let results: Readonly<Record<string, ImportedModule>>;

// In a process of its own: the test runner has its own way of importing.
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-import-")));
  const cases = [...Object.entries(GOOD), ...Object.entries(BROKEN)];
  const places = cases.map(([title, [files]], index) => [title, write(join(folder, String(index)), files)]);
  const script = `
    import { dirname } from "node:path";
    import { z } from "zod";
    import { ErgonError } from "@ergon/core";
    import { installModuleHooks } from "./module-hooks.ts";
    import { importModule } from "./import-module.ts";
    globalThis.ourZod = z;
    globalThis.OurError = ErgonError;
    const hooks = installModuleHooks({ zod: import.meta.resolve("zod"), "@ergon/core": import.meta.resolve("@ergon/core") });
    const load = async ([title, file]) => {
      hooks.addRoot(dirname(file));
      return [title, await importModule(file, ${TIMEOUT_MS})];
    };
    console.log(JSON.stringify(Object.fromEntries(await Promise.all(${JSON.stringify(places)}.map(load)))));
    process.exit(0);`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  if (run.stderr !== "") throw new Error(`It wrote to stderr: ${run.stderr}`);
  results = JSON.parse(run.stdout) as typeof results;
}, 30_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a file loads from a folder", () => {
  it.each(Object.entries(GOOD))("%s", (title, [, exports]) => {
    expect(results[title]).toMatchObject({ ok: true, exports });
  });
});

describe("a broken file is an answer:", () => {
  it.each(Object.entries(BROKEN))("%s", (title, [, reason, line]) => {
    const result = results[title];
    expect(result?.ok === false ? result.reason : "it loaded").toMatch(reason);
    expect(result?.ok === false ? result.line : undefined).toBe(line);
  });
});

function write(root: string, files: Files): string {
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), source);
  }
  return join(root, Object.keys(files)[0] ?? "");
}
