import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_FILE_BYTES, openAllowedFile } from "./allowed-file.ts";
import { deniedFiles } from "./denied-files.ts";
import { scanRoots } from "./scan-roots.ts";

let folder: string;
let root: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-files-")));
  root = join(folder, "root");
  for (const name of ["root/sub", "root/.hidden", "root-beside", "outside"])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of [
    "root/a.csv",
    "root/sub/b.csv",
    "root/a (1) [x].csv",
    "root/.hidden/c.csv",
    "root/.d.csv",
    "outside/s.csv",
    "root-beside/n.csv",
    "root/notes.txt",
  ]) {
    writeFileSync(join(folder, name), "a,b\n1,2\n");
  }
  symlinkSync(join(folder, "outside/s.csv"), join(root, "link.csv"));
  symlinkSync(join(root, "a.csv"), join(root, "inner-link.csv"));
  symlinkSync(join(folder, "outside"), join(root, "linked"));
  symlinkSync(root, join(folder, "root-link"));
  mkdirSync(join(root, "folder.csv"));
  execFileSync("mkfifo", [join(root, "pipe.csv")]);
  writeFileSync(join(root, "large.csv"), "");
  truncateSync(join(root, "large.csv"), MAX_FILE_BYTES + 1);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = async (filePath: string, roots = [root], denied: readonly string[] = []): Promise<string> => {
  const { handle, path } = await openAllowedFile({ dataRoots: roots, deniedPaths: denied }, filePath);
  await handle.close();
  return path;
};

describe("a file is read", () => {
  it("by its path below a root, or by its absolute path", async () => {
    expect(await read("sub/b.csv")).toBe(join(root, "sub/b.csv"));
    expect(await read(join(root, "a.csv"))).toBe(join(root, "a.csv"));
  });

  it("from the first root that has it", async () => {
    expect(await read("s.csv", [root, join(folder, "outside")])).toBe(join(folder, "outside/s.csv"));
  });

  it("below a root that is itself a link, by either name", async () => {
    const link = join(folder, "root-link");
    expect(await read("a.csv", [link])).toBe(join(root, "a.csv"));
    expect(await read(join(link, "a.csv"), [link])).toBe(join(root, "a.csv"));
    expect(await read(join(root, "a.csv"), [link])).toBe(join(root, "a.csv"));
  });

  it("with whatever is in its name: nothing is taken for a pattern", async () => {
    expect(await read("a (1) [x].csv")).toBe(join(root, "a (1) [x].csv"));
  });
});

describe("a file is refused", () => {
  const outside = (): string => join(folder, "outside/s.csv");
  const cases: readonly (readonly [string, () => string, string])[] = [
    ["outside the roots", outside, "path_refused"],
    ["outside the roots, where there is none", () => join(folder, "outside/none.csv"), "path_refused"],
    ["beside a root of a longer name", () => join(folder, "root-beside/n.csv"), "path_refused"],
    ["up and out", () => "../outside/s.csv", "path_refused"],
    ["up and back in", () => "sub/../a.csv", "path_refused"],
    ["up with backslashes", () => "..\\outside\\s.csv", "path_refused"],
    ["up in an absolute path", () => `${root}/../outside/s.csv`, "path_refused"],
    ["through a link to a file", () => "link.csv", "path_refused"],
    ["through a link that stays inside", () => "inner-link.csv", "path_refused"],
    ["through a linked folder", () => "linked/s.csv", "path_refused"],
    ["hidden", () => ".d.csv", "path_refused"],
    ["in a hidden folder", () => ".hidden/c.csv", "path_refused"],
    ["by a file address", () => `file://${root}/a.csv`, "path_refused"],
    ["by a web address", () => "https://example.com/a.csv", "path_refused"],
    ["in a bucket", () => "s3://bucket/a.csv", "path_refused"],
    ["on another machine", () => "//host/share/a.csv", "path_refused"],
    ["on another Windows machine", () => "\\\\host\\share\\a.csv", "path_refused"],
    ["behind a NUL", () => "a.csv\0.csv", "path_refused"],
    ["behind a line break", () => "a.csv\n.csv", "path_refused"],
    ["of the system", () => "/proc/self/environ.csv", "path_refused"],
    ["with no name", () => "", "path_refused"],
    ["with an endless name", () => `${"a".repeat(5_000)}.csv`, "path_refused"],
    ["with a name longer than file systems have", () => `${"a".repeat(300)}.csv`, "file_not_found"],
    ["as a pattern", () => "*.csv", "file_not_found"],
    ["as a pattern over folders", () => "**/b.csv", "file_not_found"],
    ["with a space behind it", () => "a.csv ", "format_unknown"],
    ["with a quote behind it", () => "a.csv'", "format_unknown"],
    ["as a query", () => "read_csv('a.csv')", "format_unknown"],
    ["as another spelling of its name", () => "A.CSV", "file_not_found"],
    ["that is no data", () => "notes.txt", "format_unknown"],
    ["that is a folder", () => "folder.csv", "path_refused"],
    ["that is a pipe", () => "pipe.csv", "path_refused"],
    ["that is too large", () => "large.csv", "file_too_large"],
    ["that is not there", () => "none.csv", "file_not_found"],
  ];
  it.each(cases)("%s", async (_title, filePath, code) => {
    await expect(read(filePath())).rejects.toMatchObject({ code });
  });

  it("in the system's folders, even where a root covers them", async () => {
    await expect(read("proc/self/environ.csv", ["/"])).rejects.toMatchObject({ code: "file_not_found" });
    await expect(read("/dev/shm", ["/"])).rejects.toMatchObject({ code: "format_unknown" });
  });

  it("where no folder is open at all", async () => {
    await expect(read("a.csv", [])).rejects.toThrow("ERGON_DATA_ROOTS");
    await expect(read("a.csv", [join(folder, "gone")])).rejects.toMatchObject({ code: "file_not_found" });
  });
});

describe("what is Ergon's own is refused below a root", () => {
  let own: string;
  let denied: readonly string[];
  beforeAll(() => {
    own = join(root, "data");
    mkdirSync(join(own, "deep"), { recursive: true });
    for (const name of ["data/server.json", "data/deep/x.json", "mcp-servers.json", "mine.json"])
      writeFileSync(join(root, name), "{}");
    linkSync(join(own, "deep/x.json"), join(root, "sub/hard.json"));
    linkSync(join(root, "mcp-servers.json"), join(root, "sub/config.json"));
    linkSync(join(root, "mine.json"), join(root, "sub/mine.json"));
    denied = [own, join(root, "mcp-servers.json"), join(folder, "no-state-yet")];
  });

  it.each([
    ["in the folder", () => "data/server.json"],
    ["deeper in the folder", () => "data/deep/x.json"],
    ["by its absolute path", () => join(own, "server.json")],
    ["as the file itself", () => "mcp-servers.json"],
    ["as a hard link to the file", () => "sub/config.json"],
    ["as a hard link to a file deep in the folder", () => "sub/hard.json"],
  ])("%s", async (_title, filePath) => {
    await expect(read(filePath())).resolves.toBeTypeOf("string");
    await expect(read(filePath(), [root], denied)).rejects.toMatchObject({
      code: "path_refused",
      message: expect.stringContaining("Ergon's own") as string,
    });
  });

  it("where the root is a folder of it, and by a root that is a link to it", async () => {
    await expect(read("x.json", [join(own, "deep")], denied)).rejects.toMatchObject({ code: "path_refused" });
    symlinkSync(own, join(folder, "data-link"));
    await expect(read("server.json", [join(folder, "data-link")], denied)).rejects.toMatchObject({
      code: "path_refused",
    });
  });

  it("and everything else there is read, hard links too", async () => {
    for (const path of ["a.csv", "sub/mine.json"]) expect(await read(path, [root], denied)).toBe(join(root, path));
  });

  it("as a file with a second name when there are too many of Ergon's to look at them all", async () => {
    const path = join(root, "sub/mine.json");
    const opened = statSync(path, { bigint: true });
    const count = readdirSync(own, { recursive: true }).length;
    expect(await (await deniedFiles(denied, count)).hasFile(path, opened)).toBe(false);
    expect(await (await deniedFiles(denied, count - 1)).hasFile(path, opened)).toBe(true);
  });

  it("and is not listed", async () => {
    const { signal } = new AbortController();
    const { files } = await scanRoots({ dataRoots: [root], deniedPaths: denied, signal });
    const names = files.map(({ filePath }) => filePath.slice(root.length + 1)).filter((name) => name.endsWith(".json"));
    expect(names.sort()).toEqual(["mine.json", "sub/mine.json"]);
  });
});

it("a refusal names no folder of the machine that its caller did not name", async () => {
  for (const path of ["none.csv", "/etc/none.csv"])
    await expect(read(path)).rejects.toMatchObject({ message: expect.not.stringContaining(folder) as string });
});

it("swapping a folder for a link while files are opened never lets one outside through", async () => {
  const [real, away, link] = ["swap", "swap-away", "swap-link"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(real);
  writeFileSync(join(real, "s.csv"), "a\n1\n");
  symlinkSync(join(folder, "outside"), link);
  let stop = false;
  const swapping = (async () => {
    while (!stop) {
      renameSync(real, away);
      renameSync(link, real);
      await new Promise((resolve) => setImmediate(resolve));
      renameSync(real, link);
      renameSync(away, real);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  let opened = 0;
  for (let round = 0; round < 3_000; round += 1) {
    try {
      const { handle } = await openAllowedFile({ dataRoots: [root], deniedPaths: [] }, "swap/s.csv");
      const text = (await handle.readFile("utf8")) === "a\n1\n";
      await handle.close();
      expect(text).toBe(true);
      opened += 1;
    } catch (thrown) {
      expect(["path_refused", "file_not_found", "dataset_unreadable"]).toContain((thrown as { code?: string }).code);
    }
  }
  stop = true;
  await swapping;
  expect(opened).toBeGreaterThan(0);
}, 60_000);
