// npm run lines [-- REV …]: source lines of packages, apps and capabilities without tests, for the work tree or for commits.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOM = 256 * 1024 * 1024;
const root = join(import.meta.dirname, "..");
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: ROOM, stdio: ["ignore", "pipe", "inherit"] });

const isSource = (path: string): boolean =>
  /^(packages|apps|capabilities)\/.*\.(ts|tsx|js|css)$/.test(path) &&
  !/\.test\.tsx?$|\.fixture\.ts$|\/(testing|fixtures|test)\//.test(path);

const lineCount = (text: string): number => text.split("\n").length - 1;

function workTree(): Map<string, string> {
  const paths = git("ls-files", "--cached", "--others", "--exclude-standard").split("\n").filter(isSource);
  return new Map(
    paths.filter((path) => existsSync(join(root, path))).map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );
}

function commit(revision: string): Map<string, string> {
  const paths = git("ls-tree", "-r", "--name-only", revision).split("\n").filter(isSource);
  return new Map(paths.map((path) => [path, git("show", `${revision}:${path}`)]));
}

function report(name: string, files: Map<string, string>): void {
  const sums = new Map<string, { files: number; lines: number }>();
  for (const [path, text] of files) {
    const folder = path
      .split("/")
      .slice(0, path.startsWith("capabilities/") ? 1 : 2)
      .join("/");
    const sum = sums.get(folder) ?? { files: 0, lines: 0 };
    sums.set(folder, { files: sum.files + 1, lines: sum.lines + lineCount(text) });
  }
  const total = [...sums.values()].reduce((all, sum) => all + sum.lines, 0);
  console.log(`${name}: ${String(total)} lines in ${String(files.size)} files`);
  for (const [folder, sum] of [...sums].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`  ${folder.padEnd(26)} ${String(sum.lines).padStart(6)} lines ${String(sum.files).padStart(4)} files`);
}

const revisions = process.argv.slice(2);
if (revisions.length === 0) report("work tree", workTree());
for (const revision of revisions) report(revision, commit(revision));
