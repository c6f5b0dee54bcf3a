import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { silentLogger } from "@ergon/core";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLateServer } from "./late-server.ts";
import { serve, type Served } from "../serve.fixture.ts";
import type { AnsweringServer } from "./server.ts";

describe("a server that is made when somebody connects", () => {
  let world: EngineWorld;
  let served: Served | undefined;
  let made: number;
  let makes: (make: () => AnsweringServer) => Promise<AnsweringServer>;
  const open = async (options: Partial<Parameters<typeof createLateServer>[1]> = {}): Promise<Served> => {
    served = await serve(world, {}, (make) => {
      const counted = async (): Promise<AnsweringServer> => {
        made += 1;
        return makes(make);
      };
      return createLateServer(counted, { logger: silentLogger, ...options });
    });
    return served;
  };

  beforeEach(() => {
    world = createEngineWorld();
    made = 0;
    makes = async (make) => make();
  });
  afterEach(async () => {
    await served?.close();
    served = undefined;
    await world.close();
  });

  it("listens, and ends, without being made", async () => {
    const { url, close } = await open();
    expect(new URL(url).port).not.toBe("0");
    await close();
    served = undefined;
    expect(made).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("is made once, and answers those who waited for it and those who come later", async () => {
    const begin = Promise.withResolvers<void>();
    makes = async (make) => {
      await begin.promise;
      return make();
    };
    const { ask } = await open();
    const early = Array.from({ length: 5 }, () => ask("POST", "/sessions", { body: { context: { a: 1 } } }));
    begin.resolve();
    expect((await Promise.all(early)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(await ask("GET", "/healthz", { token: null })).toMatchObject({ status: 200 });
    expect(made).toBe(1);
  });

  it("keeps strangers out as it always does", async () => {
    const { ask } = await open();
    expect(await ask("GET", "/sessions", { token: null })).toMatchObject({ status: 401 });
    expect(await ask("GET", "/sessions", { headers: { origin: "http://elsewhere.example" } })).toMatchObject({
      status: 403,
      body: { code: "origin_denied" },
    });
  });

  it("says so and drops who waits when it cannot be made, and tries again for the next", async () => {
    makes = () => Promise.reject(new Error("not now"));
    const logger = createMemoryLogger();
    const { ask } = await open({ logger });
    await expect(ask("GET", "/healthz")).rejects.toThrow("fetch failed");
    expect(logger.entries().map(({ message }) => message)).toContain("What answers requests could not be loaded.");
    makes = async (make) => make();
    expect(await ask("GET", "/healthz")).toMatchObject({ status: 200 });
  });

  it("drops connections beyond its bound, and those that still wait when it closes", async () => {
    const never = Promise.withResolvers<AnsweringServer>();
    makes = () => never.promise;
    const { url, close } = await open({ maxWaiting: 2 });
    const dial = async (): Promise<Socket> => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    };
    const waiting = [await dial(), await dial()];
    await once(await dial(), "close");
    expect(waiting.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    const ends = waiting.map((socket) => once(socket.resume(), "close"));
    never.reject(new Error("never"));
    await Promise.all(ends);
    await close();
    served = undefined;
  });
});
