// For hosts: conversations and their loop.
export type { ConversationRef, Conversations } from "./ports/conversations.ts";
export { type Budget, budgetOf } from "./conversation/energy/budget.ts";
export {
  conversationsLeft,
  createConversationService,
  type ConversationService,
  type ConversationServiceDeps,
} from "./conversation/conversation-service.ts";
export { DEFAULT_LOOP_ENERGY, type LoopEnergy } from "./conversation/sub-agent/sub-agent-lead.ts";
