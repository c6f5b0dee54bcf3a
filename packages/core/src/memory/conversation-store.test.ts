import { conversationStoreContract } from "../../testing/conversation-store.contract.ts";
import { createMemoryConversationStore } from "./conversation-store.ts";

conversationStoreContract("memory", async () => ({ store: createMemoryConversationStore() }));
