import { conversationsContract } from "../../testing/contracts/conversations.contract.ts";
import { createConversationWorld } from "../../testing/conversation-world.ts";

conversationsContract("local", async () => {
  const { conversationService, close } = await createConversationWorld();
  return { conversations: conversationService.conversations, close };
});
