import { describe, expect, it } from "vitest";
import { describeFence, fenceServer } from "./fence-server.ts";

const here = async (): Promise<undefined> => undefined;
const server = { id: "s", name: "s", enabled: true };

describe("a server that is added", () => {
  it("is fenced where a fence is to be had", async () => {
    const { config, unfenced } = await fenceServer({ ...server, command: "node" }, { network: false }, here);
    expect(unfenced).toBeUndefined();
    expect(config.access).toMatchObject({ network: false });
    expect(describeFence(config)).toMatch(/"s" is fenced: it reads its program.* It has no network\./);
  });

  it("says why it is not fenced: no fence here, none wanted, a container", async () => {
    const missing = async (): Promise<string> => "bubblewrap is not installed.";
    for (const [command, wish, look, why] of [
      ["node", {}, missing, /bubblewrap is not installed/],
      ["node", { fence: false }, here, /--no-fence was given/],
      ["docker", {}, here, /docker needs what a fence takes away/],
    ] as const) {
      const { config, unfenced } = await fenceServer({ ...server, command }, wish, look);
      expect(config).not.toHaveProperty("access");
      expect(describeFence(config, unfenced)).toMatch(why);
    }
  });

  it.each([
    ["docker", { read: ["/tmp"] }],
    ["podman", { network: false }],
    ["node", { write: ["/tmp"], fence: false }],
    [undefined, { read: ["/tmp"] }],
  ])("is refused where the limits that were asked for cannot be kept: %s %o", async (command, wish) => {
    const config = command === undefined ? { ...server, url: "https://example.org/mcp" } : { ...server, command };
    await expect(fenceServer(config, wish, here)).rejects.toMatchObject({ code: "usage" });
  });
});
