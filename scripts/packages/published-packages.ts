// Every workspace that is not private is published, all with one version.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import root from "../../package.json" with { type: "json" };

export const rootFolder = join(import.meta.dirname, "../..");

export type Versions = Readonly<Record<string, string>>;

export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Versions;
  readonly bin?: Versions;
  readonly scripts?: Versions;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
};

export type PublishedPackage = {
  readonly manifest: Manifest;
  /** Of the sources. */
  readonly folder: string;
  readonly folderName: string;
  /** What its exports name, and what they are named after in `dist`. */
  readonly entries: readonly Entry[];
};

type Entry = { readonly source: string; readonly name: string };

export function publishedPackages(): readonly PublishedPackage[] {
  return workspaceManifests()
    .map((file) => ({ folder: dirname(file), manifest: JSON.parse(readFileSync(file, "utf8")) as Manifest }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({
      manifest,
      folder,
      folderName: manifest.name.replace("@ergon/", ""),
      entries: entriesOf(folder, manifest),
    }));
}

export function workspaceManifests(): readonly string[] {
  return root.workspaces
    .flatMap((place) => globSync(`${place}/package.json`, { cwd: rootFolder }))
    .map((file) => join(rootFolder, file));
}

function entriesOf(folder: string, { exports = {} }: Manifest): readonly Entry[] {
  const sources = Object.values(exports).filter((target) => target.endsWith(".ts"));
  return sources.map((target) => ({ source: join(folder, target), name: entryName(target) }));
}

/** `./src/index.ts` is `index`, `./testing/index.ts` is `testing/index`. */
export function entryName(target: string): string {
  return relative("src", join(".", target))
    .replace(/^\.\.\//, "")
    .replace(/\.ts$/, "");
}
