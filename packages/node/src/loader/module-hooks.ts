import { readFileSync } from "node:fs";
import { type LoadFnOutput, registerHooks, type ResolveFnOutput, stripTypeScriptTypes } from "node:module";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compileFunction } from "node:vm";

/** What users' files import from us, by name, and the URL of our own copy: one instance of each in the process. */
export type SharedModules = Readonly<Record<string, string>>;

export type ModuleHooks = {
  /** Files below this folder (links resolved) load by our rules from now on. */
  addRoot(root: string): void;
  remove(): void;
};

/**
 * Makes the files of capability folders load wherever they lie: Node itself would refuse TypeScript under
 * `node_modules`, take `.ts` and `.js` for CommonJS or for modules by the nearest package.json, and look for `zod` in
 * folders that have none. Packages that a folder has installed for itself keep Node's rules and their own copies.
 */
export function installModuleHooks(shared: SharedModules): ModuleHooks {
  const ours = new Map(Object.entries(shared));
  const roots = new Set<string>();
  const isOurs = (url: string | undefined): boolean => {
    const file = url === undefined ? undefined : filePath(url);
    return file !== undefined && [...roots].some((root) => isOwnFile(root, file));
  };
  const hooks = registerHooks({
    resolve(specifier, context, next): ResolveFnOutput {
      if (!isOurs(context.parentURL)) return next(specifier, context);
      const url = ours.get(specifier);
      if (url !== undefined) return { url, shortCircuit: true };
      if (!specifier.startsWith("."))
        return resolvePackage(specifier, (name, from) => next(name, { ...context, ...from }));
      return resolveRelative(specifier, (name) => next(name, context));
    },
    load(url, context, next): LoadFnOutput {
      const file = isOurs(url) ? filePath(url) : undefined;
      if (file?.endsWith(".ts")) return loadTypeScript(url, file);
      if (file?.endsWith(".js")) return loadJavaScript(file, context.format);
      return next(url, context);
    },
  });
  return {
    addRoot: (root) => void roots.add(root.endsWith(sep) ? root : root + sep),
    remove: () => hooks.deregister(),
  };
}

/** A root may itself lie under `node_modules`; what is installed below it belongs to others. */
function isOwnFile(root: string, file: string): boolean {
  return file.startsWith(root) && !file.slice(root.length).split(sep).includes("node_modules");
}

type Next = (specifier: string, from?: { readonly parentURL: string }) => ResolveFnOutput;

/** The rest of zod comes from the folder itself where it is installed, else from ours. */
function resolvePackage(specifier: string, next: Next): ResolveFnOutput {
  try {
    return next(specifier);
  } catch (error) {
    if (!/^(zod|@ergon\/core)\//.test(specifier)) throw error;
    return next(specifier, { parentURL: import.meta.url });
  }
}

/** TypeScript is often written with the name that a compiler would give the file, or with none. */
function resolveRelative(specifier: string, next: Next): ResolveFnOutput {
  try {
    return next(specifier);
  } catch (error) {
    const alternatives = specifier.endsWith(".js")
      ? [`${specifier.slice(0, -3)}.ts`]
      : [`${specifier}.ts`, `${specifier}.js`];
    for (const alternative of alternatives) {
      try {
        return next(alternative);
      } catch {
        continue;
      }
    }
    throw error;
  }
}

function loadTypeScript(url: string, file: string): LoadFnOutput {
  const source = readFileSync(file, "utf8");
  if (!file.split(sep).includes("node_modules")) return { format: "module-typescript", source, shortCircuit: true };
  return { format: "module", source: stripTypes(source, url), shortCircuit: true };
}

/** The syntax decides, not the nearest package.json. */
function loadJavaScript(file: string, formatByPackage: string | null | undefined): LoadFnOutput {
  const source = readFileSync(file, "utf8");
  if (!isCommonJs(source)) return { format: "module", source, shortCircuit: true };
  if (formatByPackage !== "module") return { format: "commonjs", source, shortCircuit: true };
  return { format: "module", source: asModule(source), shortCircuit: true };
}

/** CommonJS in a folder of modules: Node's own CommonJS loader would refuse it. Line numbers stay. */
function asModule(source: string): string {
  return (
    `import { createRequire } from "node:module"; const module = { exports: {} };` +
    `(function (exports, require, module, __filename, __dirname) { ${source}\n})` +
    `(module.exports, createRequire(import.meta.url), module, import.meta.filename, import.meta.dirname);\n` +
    `const whole = module.exports; export { whole as default, whole as "module.exports" };`
  );
}

function isCommonJs(source: string): boolean {
  try {
    compileFunction(source, ["exports", "require", "module", "__filename", "__dirname"]);
    return true;
  } catch {
    return false;
  }
}

/** Node calls this function experimental, once and on stderr; that note is not for Ergon's users. */
export function stripTypes(source: string, url: string): string {
  const held = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source, { sourceUrl: url });
  } finally {
    if (held !== undefined) Object.defineProperty(process, "emitWarning", held);
  }
}

function filePath(url: string): string | undefined {
  return url.startsWith("file:") ? fileURLToPath(url) : undefined;
}

export function moduleUrl(file: string): string {
  return pathToFileURL(file).href;
}
