import { engineContract } from "@ergon/core/testing/contracts";
import { createRemoteEngine } from "@ergon/node";
import { LOCAL_TOKEN, serve } from "./serve.fixture.ts";

engineContract("remote, over HTTP", async (world) => {
  const { url, close } = await serve(world);
  return { engine: createRemoteEngine({ url, token: LOCAL_TOKEN }), close };
});
