import { conversationStoreContract } from "../../testing/contracts/conversation-store.contract.ts";
import { createMemoryConversationStore } from "./conversation-store.ts";

conversationStoreContract("memory", async () => ({ store: createMemoryConversationStore() }));
