// Builds what the launcher runs into apps/ergon/dist. The folder is swapped in whole, so that a running or a failed
// build never leaves half of one behind; when nothing changed it stays, so that a running Ergon keeps its files.
import { existsSync, globSync } from "node:fs";
import { createHash } from "node:crypto";
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type * as ErgonNode from "@ergon/node";
import { type Plugin, rolldown } from "rolldown";
import core from "../packages/core/package.json" with { type: "json" };
import ergon from "../apps/ergon/package.json" with { type: "json" };

const root = join(import.meta.dirname, "..");
const dist = join(root, "apps/ergon/dist");
const staging = join(root, `apps/ergon/.dist-${process.pid}`);

const SANDBOX_CHILD = "packages/node/src/sandbox/child";

const NAMES_OF = "names-of:";

const OPTIONAL_PACKAGES = Object.keys(ergon.peerDependencies).map((name) => new RegExp(`^${name}$`));

// Names that users' tools import are entries of their own: one instance of each, shared with the runtime.
const entries = {
  cli: "apps/ergon/src/cli.ts",
  ...coreEntries(),
  node: `${NAMES_OF}@ergon/node`,
  zod: "zod",
};

/** `@ergon/core/spec` is `core-spec`. Suites for tests are not part of a program. */
function coreEntries(): Record<string, string> {
  const names = Object.keys(core.exports).filter((name) => !/package\.json|contracts/.test(name));
  return Object.fromEntries(
    names.map((name) => [`core${name.slice(1).replace("/", "-")}`, `${NAMES_OF}@ergon/core${name.slice(1)}`]),
  );
}

/**
 * Where a package's index is an entry, or is imported on the way, all that it names lies in one chunk, and every command
 * loads all of it. So such an entry only hands the names on, and each module lies where it is used.
 */
const handOnNames: Plugin = {
  name: "hand-on-names",
  resolveId(id, _importer, { kind }) {
    if (id.startsWith(NAMES_OF)) return id;
    return kind === "dynamic-import" && id.startsWith("@ergon/") ? NAMES_OF + id : null;
  },
  load(id) {
    return id.startsWith(NAMES_OF) ? `export * from ${JSON.stringify(id.slice(NAMES_OF.length))};` : null;
  },
};

/**
 * An `import` of one of Node's modules reads everything that it exports, and some of that loads a whole subsystem. Taken
 * by name, only what is named is.
 */
const takeBuiltins: Plugin = {
  name: "take-builtins",
  renderChunk: (code) =>
    code.replace(/^(?:import .*;\n)*/, (imports) =>
      imports.replaceAll(
        /^import (?:\* as )?([\w$]+|\{.*\}) from ("node:[\w/]+");$/gm,
        (_, names: string, from: string) => {
          return `const ${names.replaceAll(" as ", ": ")} = globalThis.process.getBuiltinModule(${from});`;
        },
      ),
    ),
};

// Left to node_modules: pino starts workers by file name, optional packages may be absent; the others belong to tests that
// run a contract suite.
export const external = [/^pino$/, /^@supabase\//, ...OPTIONAL_PACKAGES, /^vitest$/, /^fast-check$/];

// Each file costs its time, and so does what is loaded and not used. So there is one file for what every command takes, one
// for tools, one for work on a data folder, and one for what is taken before that by `ergon mcp` and by lists.
const groups = [
  { name: "base", test: /src[\\/]compose[\\/]compose\.ts$/ },
  { name: "tools", test: /src[\\/]compose[\\/]load-capabilities\.ts$/ },
  {
    name: "shared",
    test: /src[\\/](services[\\/]watch-plans|plans[\\/]engine[\\/]run[\\/]call-output|planner[\\/]turn[\\/]ready-session|workspace[\\/]inspect-data|hub[\\/](hub|sub-agent)-tools|mcp[\\/](host[\\/](changed-offers|changed-resources)|drained|drive[\\/]follow-through|line-reader|plain-message)|tokens[\\/]token-store|schema[\\/](hub|mcp-loop|refinement|values[\\/]secret-field|session))\.ts$/,
  },
  { name: "work", test: /src[\\/]compose[\\/]open-workspace\.ts$/ },
];

export async function buildDist(): Promise<void> {
  const startedAt = performance.now();
  try {
    await bundle();
    await copyAsIs("capabilities/**/*.plan.{json,yaml,yml}");
    await copyAsIs("supabase/{migrations/*.sql,seed.sql}");
    await copyAsIs("capabilities/samples/*.{csv,jsonl}");
    await bundleSandbox();
    await writeManifest();
    if ((await digest(staging)) !== (await digest(dist))) await swapIn();
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  console.log(`built ${relative(root, dist)} in ${Math.round(performance.now() - startedAt)} ms`);
}

async function bundle(): Promise<void> {
  const packs = await packEntries();
  const build = await rolldown({
    cwd: root,
    input: { ...entries, ...packs },
    plugins: [handOnNames, takeBuiltins],
    platform: "node",
    // A package's own modules where it has them: what was wrapped for every loader cannot be taken apart.
    resolve: { mainFields: ["module", "main"] },
    external,
    onLog(level, log, defaultHandler) {
      defaultHandler(level === "warn" ? "error" : level, log);
    },
  });
  await build.write({
    dir: staging,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups },
    // Read faster: what is ASCII stays one byte per character in memory, and nobody reads the comments.
    charset: "ascii",
    comments: { legal: true, jsdoc: false, annotation: false },
  });
  await build.close();
}

async function packEntries(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const file of glob("capabilities/**/{*.tool,action,buildPrompt}.ts", {
    cwd: root,
    exclude: isInstalled,
  })) {
    found[file.slice(0, -".ts".length)] = file;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function copyAsIs(pattern: string): Promise<void> {
  for await (const file of glob(pattern, { cwd: root, exclude: isInstalled })) {
    const target = join(staging, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target);
  }
}

/** Run by Deno in processes that see these files alone: each is whole in itself. */
async function bundleSandbox(): Promise<void> {
  for (const name of ["keeper", "realm"]) {
    const build = await rolldown({ cwd: root, input: join(SANDBOX_CHILD, `${name}.ts`), platform: "neutral" });
    await build.write({ file: join(staging, "sandbox", `${name}.js`), format: "esm" });
    await build.close();
  }
  for await (const file of glob("*.py", { cwd: join(root, SANDBOX_CHILD) })) {
    await cp(join(root, SANDBOX_CHILD, file), join(staging, "sandbox", file));
  }
}

/** Asks the loader that was just built, so that packs and loader share one core and one zod. */
async function writeManifest(): Promise<void> {
  const folder = join(staging, "capabilities");
  const built = (await import(join(staging, "node.js"))) as typeof ErgonNode;
  const manifest = await built.describeCapabilities(folder);
  await writeFile(join(folder, built.MANIFEST_FILE), `${JSON.stringify(manifest)}\n`);
}

async function digest(folder: string): Promise<string> {
  const files = globSync("**/*.{js,json,yaml,yml,py,sql}", { cwd: folder });
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(file).update(await readFile(join(folder, file)));
  return hash.digest("hex");
}

async function swapIn(): Promise<void> {
  const previous = `${staging}.previous`;
  if (existsSync(dist)) await rename(dist, previous);
  await rename(staging, dist);
  await rm(previous, { recursive: true, force: true });
}

function isInstalled(path: string): boolean {
  return path.split("/").includes("node_modules");
}
