import { createEngineWorld } from "@ergon/core/testing";
import { conversationsContract } from "@ergon/core/testing/contracts";
import { createRemoteConversations } from "@ergon/node";
import { LOCAL_TOKEN, serve } from "./serve.fixture.ts";

conversationsContract("remote, over HTTP", async () => {
  const world = createEngineWorld();
  const { url, close } = await serve(world);
  return {
    conversations: createRemoteConversations({ url, token: LOCAL_TOKEN }, "ada"),
    close: async () => {
      await close();
      await world.close();
    },
  };
});
