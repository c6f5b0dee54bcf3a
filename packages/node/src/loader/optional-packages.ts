import { createRequire } from "node:module";
import manifest from "../../package.json" with { type: "json" };

/** Looked for where Ergon itself is installed and nowhere else: a working folder cannot bring code into the process. */
export function isInstalled(packageName: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/** The package that the tools and plans of this part of our pack need, where it is not installed. */
export function missingFor(part: string): string | undefined {
  const name = `@ergon/${part}`;
  return name in manifest.peerDependencies && !isInstalled(name) ? name : undefined;
}
