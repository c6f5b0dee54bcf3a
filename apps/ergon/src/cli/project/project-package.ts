import { usageError } from "@ergon/core/schema";
import { z } from "zod";

const Manifest = z.looseObject({
  type: z.string().optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
});

/** What `npm init` writes where there is no test. */
const NO_TEST = /no test specified/;

const SCRIPTS = {
  start: "ergon serve",
  dev: "ergon dev",
  test: "node --test",
  check: "tsc",
};

/** The package.json of a project: a new one, or the one that is there with what it lacks. */
export function mergePackage(
  text: string | undefined,
  { name, version }: { readonly name: string; readonly version: string },
): string {
  const found = text === undefined ? { name: packageName(name), private: true } : parse(text);
  const { scripts = {}, dependencies = {}, devDependencies = {} } = found;
  const { test } = scripts;
  // npm init writes "commonjs" into every new package.json: a package without a test of its own is new.
  if (found.type === "commonjs" && test !== undefined && !NO_TEST.test(test)) {
    const message = `package.json says "type": "commonjs", and a project of Ergon has ES modules. Change it to "module", or name another folder: ergon init DIR`;
    throw usageError("input_invalid", message);
  }
  const kept = test !== undefined && NO_TEST.test(test) ? without(scripts, "test") : scripts;
  const merged = {
    ...found,
    type: "module",
    scripts: { ...SCRIPTS, ...kept },
    dependencies: { ergon: `^${version}`, ...dependencies },
    devDependencies: { "@types/node": "^24.0.0", typescript: "^6.0.3", ...devDependencies },
  };
  return `${JSON.stringify(merged, undefined, 2)}\n`;
}

function parse(text: string): z.infer<typeof Manifest> {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (cause) {
    throw usageError("input_invalid", "package.json is there and cannot be read as one. Nothing was changed.", {
      cause,
    });
  }
}

function packageName(folder: string): string {
  return (
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+/, "") || "project"
  );
}

function without(record: Readonly<Record<string, string>>, key: string): Record<string, string> {
  const { [key]: _, ...rest } = record;
  return rest;
}
