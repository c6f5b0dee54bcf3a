import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isInstalledServer, makeServerFolder, removeServerFolder } from "./server-folder.ts";

let folder: string;
let servers: string;
let elsewhere: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-server-folder-")));
  servers = join(folder, "data", "servers");
  elsewhere = join(folder, "outside");
  mkdirSync(servers, { recursive: true });
  mkdirSync(join(elsewhere, "projects"), { recursive: true });
  writeFileSync(join(elsewhere, "projects", "thesis"), "years of work");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const refused = { code: "install_refused" };

describe("the folder of a server", () => {
  it("is made anew in place of an earlier one, and removed with everything in it", async () => {
    const made = await makeServerFolder(servers, "notes");
    writeFileSync(join(made, "left"), "over");
    expect(readdirSync(await makeServerFolder(servers, "notes"))).toEqual([".ergon-server"]);
    await removeServerFolder(servers, "notes");
    await removeServerFolder(servers, "notes");
    expect(readdirSync(servers)).toEqual([]);
  });

  it("is made where a process that died left it empty", async () => {
    mkdirSync(join(servers, "notes"));
    expect(readdirSync(await makeServerFolder(servers, "notes"))).toEqual([".ergon-server"]);
  });

  it.each([
    [
      "the folder of all servers is a link",
      () => (rmSync(servers, { recursive: true }), symlinkSync(elsewhere, servers)),
    ],
    ["it is a link itself", () => symlinkSync(join(elsewhere, "projects"), join(servers, "projects"))],
    [
      "Ergon did not make it",
      () => {
        mkdirSync(join(servers, "projects"));
        writeFileSync(join(servers, "projects", "thesis"), "years of work");
      },
    ],
    [
      "its marker is a link",
      () => {
        mkdirSync(join(servers, "projects"));
        symlinkSync(join(elsewhere, "projects", "thesis"), join(servers, "projects", ".ergon-server"));
      },
    ],
  ])("is neither removed nor replaced when %s", async (_, plant) => {
    plant();
    await expect(removeServerFolder(servers, "projects")).rejects.toMatchObject(refused);
    await expect(makeServerFolder(servers, "projects")).rejects.toMatchObject(refused);
    expect(existsSync(join(elsewhere, "projects", "thesis"))).toBe(true);
    expect(existsSync(join(servers, "projects"))).toBe(true);
  });
});

describe("an entry counts as installed by the sub-agent", () => {
  const entry = (program: string, command = process.execPath) => ({ id: "notes", command, args: [program] });

  it("when Node runs a program in the server's own folder", async () => {
    const home = await makeServerFolder(servers, "notes");
    writeFileSync(join(home, "index.js"), "");
    expect(isInstalledServer(servers, entry(join(home, "index.js")))).toBe(true);
  });

  it.each([
    ["of another server's folder", () => entry(join(servers, "other", "index.js"))],
    ["that leaves the folder by ..", () => entry(join(servers, "notes") + "/../../../outside/projects/thesis")],
    [
      "that is a link out of the folder",
      () => {
        symlinkSync(join(elsewhere, "projects", "thesis"), join(servers, "notes", "link.js"));
        return entry(join(servers, "notes", "link.js"));
      },
    ],
    ["that is not there", () => entry(join(servers, "notes", "gone.js"))],
    ["that another command runs", () => entry(join(servers, "notes", "index.js"), "/bin/sh")],
  ])("and not with a program %s", async (_, given) => {
    for (const id of ["notes", "other"]) writeFileSync(join(await makeServerFolder(servers, id), "index.js"), "");
    expect(isInstalledServer(servers, given())).toBe(false);
  });
});
