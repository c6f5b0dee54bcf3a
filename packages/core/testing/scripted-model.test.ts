import { chatModelContract } from "./contracts/chat-model.contract.ts";
import { createScriptedModel } from "./scripted-model.ts";

chatModelContract("scripted", async (replies) => {
  const model = createScriptedModel(replies);
  return { model, asked: () => model.requests.length, close: () => Promise.resolve() };
});
