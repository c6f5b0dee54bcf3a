import { conversationsContract } from "../../testing/conversations.contract.ts";
import { createMindWorld } from "../../testing/mind-world.ts";

conversationsContract("local", async () => {
  const { mind, close } = await createMindWorld();
  return { conversations: mind.conversations, close };
});
