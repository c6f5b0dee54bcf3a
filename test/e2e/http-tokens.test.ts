import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, ergon, temporaryFolder } from "./ergon.ts";
import { serveFolder, type ServedFolder, type ServeOptions } from "./served.ts";

describe("tokens", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let data: string;
  let server: ServedFolder | undefined;
  const run = (...args: readonly string[]): Promise<Answer> => ergon(["--data", data, ...args], { cwd: folder.path });
  const serve = async (options: Partial<ServeOptions> = {}): Promise<ServedFolder> => {
    server = await serveFolder(data, { cwd: folder.path, ...options });
    return server;
  };
  const statusWith = async (url: string, token: string): Promise<number> =>
    (await fetch(new URL("/sessions", url), { headers: { authorization: `Bearer ${token}` } })).status;

  beforeEach(() => {
    folder = temporaryFolder();
    data = join(folder.path, "data");
  });
  afterEach(async () => {
    await server?.stop("SIGTERM");
    server = undefined;
    folder.remove();
  });

  it("are made, listed and revoked, with no server and through one", { timeout: 60_000 }, async () => {
    const added = await run("token", "add", "bot");
    expect(added).toMatchObject({ code: 0, err: expect.stringContaining("only time") as unknown });
    const token = added.out.trim();
    expect(token).toMatch(/^ergon_[\w-]{43}$/);
    const kept = readFileSync(join(data, "tokens.json"), "utf8");
    expect(kept).not.toContain(token);
    expect(statSync(join(data, "tokens.json")).mode & 0o777).toBe(0o600);

    const { url, token: first } = await serve();
    expect(await statusWith(url, token)).toBe(200);
    expect(JSON.parse((await run("token", "list", "--json")).out)).toMatchObject({
      items: [{ name: "bot", scope: "agent" }],
    });
    const person = JSON.parse((await run("token", "add", "ann", "--scope", "person", "--json")).out) as {
      token: string;
    };
    expect(await statusWith(url, person.token)).toBe(200);
    expect(await run("token", "add", "bot")).toMatchObject({
      code: 1,
      err: expect.stringContaining("taken") as unknown,
    });
    expect(await run("token", "add", "x", "--scope", "god")).toMatchObject({ code: 2 });
    expect(await run("token", "add", "a b")).toMatchObject({ code: 2 });
    expect(await run("token", "revoke", "bot")).toMatchObject({ code: 0, out: "token bot revoked\n" });
    expect(await run("token", "revoke", "..")).toMatchObject({ code: 1 });
    expect(await statusWith(url, token)).toBe(401);
    expect(await statusWith(url, first)).toBe(200);
    expect((await run("token")).out).toMatch(/^NAME[^]*ann +person/);
  });

  it(
    "can be given by hand, and then none is kept; the folder's own commands still come in",
    { timeout: 60_000 },
    async () => {
      const token = "given-by-hand-given-by-hand-given";
      const env = { ERGON_ALLOWED_HOSTS: "ergon.example" };
      const { url } = await serve({ token, args: ["--host", "0.0.0.0"], env });
      expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
      expect(existsSync(join(data, "token"))).toBe(false);
      const here = url.replace("0.0.0.0", "127.0.0.1");
      expect(await statusWith(here, token)).toBe(200);
      expect(await statusWith(here, `${token}x`)).toBe(401);
      expect(await run("sessions", "--json")).toMatchObject({ code: 0, out: '{"items":[]}\n' });
      expect(await run("token", "show"), "it is not Ergon's to show").toMatchObject({ code: 1, out: "" });
    },
  );

  it("can be given in a file; one that is typed warns that others can read it", { timeout: 60_000 }, async () => {
    const token = "from-a-file-from-a-file-from-a-file";
    folder.write({ secret: `${token}\n` });
    const { url } = await serve({ token, tokenFile: "secret" });
    expect(await statusWith(url, token)).toBe(200);
    await server?.stop("SIGTERM");
    server = undefined;
    const missing = await run("serve", "--port", "0", "--token-file", "nothing");
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("nothing does not exist") as unknown });
    const typed = await run("serve", "--port", "0", "--host", "0.0.0.0", "--token", token);
    expect(typed).toMatchObject({
      code: 2,
      err: expect.stringContaining("use --token-file or ERGON_TOKEN") as unknown,
    });
  });
});
