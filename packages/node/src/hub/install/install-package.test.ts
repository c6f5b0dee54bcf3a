import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { installPackage } from "./install-package.ts";
import { readPackageFacts } from "./package-facts.ts";
import { type PackageWish, type Registries, startRegistries } from "./registries.fixture.ts";

const HOUR_DAYS = 1 / 24;
let folder: string;
let servers: string;
let registries: Registries;
/** A server on the machine that a package would have asked. */
let inside: { readonly http: Server; readonly url: string; readonly asked: string[] };

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-install-")));
  servers = join(folder, "servers");
  mkdirSync(servers);
  registries = await startRegistries();
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  inside = { http, asked, url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}` };
  vi.stubEnv("npm_config_registry", registries.url);
  vi.stubEnv("npm_config_cache", join(folder, "cache"));
  vi.stubEnv("HOME", folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  inside.http.closeAllConnections();
  inside.http.close();
  await registries.close();
  rmSync(folder, { recursive: true, force: true });
});

const offer = (name: string, more: Partial<PackageWish> = {}) =>
  registries.addPackage({ name, version: "1.0.0", ...more });

async function install() {
  const { signal } = new AbortController();
  const facts = await readPackageFacts("server", "1.0.0", signal);
  return installPackage(facts, { servers, id: "server", now: () => Date.now(), signal });
}

describe("an installation", { timeout: 120_000 }, () => {
  it("brings a package with its dependencies, exactly as its lock says, and counts them", async () => {
    await offer("deep");
    await offer("lib", { dependencies: { deep: "^1.0.0" } });
    await offer("server", { dependencies: { lib: "^1.0.0" } });
    const installed = await install();
    expect(installed.dependencies).toBe(2);
    expect(existsSync(installed.program)).toBe(true);
    expect(readdirSync(join(installed.folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "deep",
      "lib",
      "server",
    ]);
  });

  it("takes an older version of a dependency whose newest is two hours old", async () => {
    await offer("lib");
    await offer("lib", { version: "1.0.1", ageDays: 2 * HOUR_DAYS });
    await offer("server", { dependencies: { lib: "^1.0.0" } });
    const { folder: home } = await install();
    const { version } = JSON.parse(readFileSync(join(home, "node_modules/lib/package.json"), "utf8")) as {
      version: string;
    };
    expect(version).toBe("1.0.0");
  });

  it.each<[string, () => Promise<Readonly<Record<string, string>>>, RegExp]>([
    [
      "that is two hours old",
      async () => (await offer("young", { ageDays: 2 * HOUR_DAYS }), { young: "1.0.0" }),
      /young/,
    ],
    [
      "of a dependency that is two hours old",
      async () => {
        await offer("young", { ageDays: 2 * HOUR_DAYS });
        await offer("lib", { dependencies: { young: "^1.0.0" } });
        return { lib: "1.0.0" };
      },
      /young/,
    ],
    ["at a web address", async () => ({ ssrf: `${inside.url}/ssrf-target.tgz` }), /remote|registry/i],
    [
      "at a web address, deeper down",
      async () => (await offer("lib", { dependencies: { ssrf: `${inside.url}/deep.tgz` } }), { lib: "1.0.0" }),
      /remote|registry/i,
    ],
    ["in a git repository", async () => ({ repo: `git+${inside.url}/repo.git` }), /git/i],
    [
      "that is a file of this machine",
      async () => (writeFileSync(join(folder, "x.tgz"), ""), { file: `file:${join(folder, "x.tgz")}` }),
      /file/i,
    ],
    [
      "that is a folder of this machine",
      async () => {
        mkdirSync(join(folder, "mine"));
        writeFileSync(join(folder, "mine/package.json"), '{"name":"mine","version":"1.0.0"}');
        return { mine: `file:${join(folder, "mine")}` };
      },
      /file|directory/i,
    ],
    [
      "whose tarball the registry does not announce a sha512 of",
      async () => (await offer("odd", { hasNoIntegrity: true }), { odd: "1.0.0" }),
      /sha512/,
    ],
    [
      "whose tarball lies elsewhere than the registry says",
      async () => (await offer("away", { tarball: `${inside.url}/away.tgz` }), { away: "1.0.0" }),
      /comes from|remote/i,
    ],
  ])(
    "is refused for a dependency %s: nothing but the registry is asked, nothing is left",
    async (_, dependencies, why) => {
      await offer("server", { dependencies: await dependencies() });
      const git = join(folder, "git-ran");
      mkdirSync(join(folder, "bin"));
      writeFileSync(join(folder, "bin/git"), `#!/bin/sh\ntouch ${git}\nexit 1\n`, { mode: 0o755 });
      vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`);
      await expect(install()).rejects.toMatchObject({ message: expect.stringMatching(why) as string });
      expect({ asked: inside.asked, git: existsSync(git), left: readdirSync(servers) }).toEqual({
        asked: [],
        git: false,
        left: [],
      });
    },
  );

  it("does not take its registry from a configuration that lies around the folder", async () => {
    await offer("server");
    for (const place of [folder, servers])
      writeFileSync(join(place, ".npmrc"), `registry=${inside.url}\n@scope:registry=${inside.url}\n`);
    writeFileSync(join(folder, "package.json"), "{}");
    vi.stubEnv("HOME", join(folder, "home"));
    vi.stubEnv("npm_config_registry", undefined);
    vi.stubEnv("npm_config_userconfig", join(folder, "user"));
    writeFileSync(join(folder, "user"), `registry=${registries.url}\n`);
    await install();
    expect(inside.asked).toEqual([]);
  });

  it("is refused with an npm that cannot be kept to the registry", async () => {
    await offer("server");
    const { signal } = new AbortController();
    const facts = await readPackageFacts("server", "1.0.0", signal);
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/npm"), `#!/bin/sh\necho '{ "registry": "${registries.url}" }'\n`, { mode: 0o755 });
    vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`);
    const installing = installPackage(facts, { servers, id: "server", now: () => Date.now(), signal });
    await expect(installing).rejects.toThrow("npm install -g npm@latest");
  });
});
