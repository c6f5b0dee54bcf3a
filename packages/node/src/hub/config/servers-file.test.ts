import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { MAX_SERVERS_FILE_BYTES, openServersFile } from "./servers-file.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-servers-file-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.runIf(process.platform !== "win32").each([
  ["a pipe", "is not a regular file", (path: string) => execFileSync("mkfifo", [path])],
  ["a device behind a link", "is not a regular file", (path: string) => symlinkSync("/dev/zero", path)],
  ["a file over the bound", `more than ${String(MAX_SERVERS_FILE_BYTES)} bytes`, (path: string) => sized(path, 1)],
])("a configuration that is %s is refused, and not waited for", async (name, reason, plant) => {
  const path = join(root, name);
  plant(path);
  await expect(openServersFile(path).read()).rejects.toMatchObject({
    code: "server_config_invalid",
    message: expect.stringContaining(reason) as unknown,
  });
});

it("a configuration of as many bytes as it may have is read", async () => {
  const path = join(root, "full");
  sized(path, 0);
  expect((await openServersFile(path).read()).isUnreadable).toBe(true);
});

function sized(path: string, more: number): void {
  writeFileSync(path, "");
  truncateSync(path, MAX_SERVERS_FILE_BYTES + more);
}
