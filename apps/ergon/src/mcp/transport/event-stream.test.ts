import { afterEach, describe, expect, it } from "vitest";
import { openEventStream } from "./event-stream.ts";
import { type LegacyServer, openLegacyServer, post } from "./legacy-server.fixture.ts";

let door: LegacyServer | undefined;
afterEach(() => door?.close());

describe("an answer whose reader may not go on", () => {
  it.each(["before it is opened", "in the turn that opens it", "later"])("ends %s, headers and all", async (when) => {
    const over = new AbortController();
    door = await openLegacyServer(({ response, headers }) => {
      if (when === "before it is opened") over.abort();
      openEventStream(response, headers, over.signal);
      if (when === "in the turn that opens it") over.abort();
    });
    const response = await post(door.url, {});
    expect(response.headers.get("x-ours")).toBe("1");
    over.abort();
    expect(await response.text()).toBe("");
  });
});
