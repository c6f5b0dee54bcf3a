import { createEngineWorld } from "@ergon/core/testing";
import { refinementLoopsContract } from "@ergon/core/testing/contracts";
import { createRemoteLoops } from "@ergon/node";
import { LOCAL_TOKEN, serve } from "./serve.fixture.ts";

refinementLoopsContract("remote, over HTTP", async () => {
  const world = createEngineWorld();
  const { url, close } = await serve(world);
  return {
    loops: createRemoteLoops({ url, token: LOCAL_TOKEN }),
    close: async () => {
      await close();
      await world.close();
    },
  };
});
