import type { PauseMode, SubAgent } from "../src/hub/sub-agent.ts";
import type { SubAgentMessage, SubAgentRequest } from "../src/schema/hub.ts";

/** A sub-agent that does what a test says, and notes what the loop does with it. */
export type ScriptedSubAgent = SubAgent & {
  readonly calls: string[];
  readonly sent: { readonly request: SubAgentRequest; readonly owner: string | undefined }[];
  /** It has worked: it spent this much, and tells this. */
  readonly work: (units: number, message: SubAgentMessage) => void;
};

export function createScriptedSubAgent(): ScriptedSubAgent {
  const calls: string[] = [];
  const sent: ScriptedSubAgent["sent"] = [];
  const messages: SubAgentMessage[] = [];
  const ended = new Set<string>();
  let spent = 0;
  let tell: () => void = () => undefined;
  return {
    calls,
    sent,
    work: (units, message) => {
      spent += units;
      messages.push(message);
      if (message.type !== "status_update") ended.add(message.requestId);
      tell();
    },
    start: () => void calls.push("start"),
    stop: async () => void calls.push("stop"),
    pause: (how: PauseMode) => void calls.push(`pause:${how}`),
    resume: () => void calls.push("resume"),
    sendRequest: async (request, owner) => {
      if (!sent.some((before) => before.request.id === request.id)) sent.push({ request, owner });
      return request.id;
    },
    getStatus: (requestId) => {
      if (!sent.some(({ request }) => request.id === requestId)) return undefined;
      const state = ended.has(requestId) ? "completed" : "queued";
      return { requestId, state, progress: 0, message: "", energyConsumed: 0 };
    },
    cancelRequest: () => false,
    pollMessages: () => messages.splice(0),
    getSubAgentEnergyConsumption: () => {
      const units = spent;
      spent = 0;
      return units;
    },
    hasActiveWork: () => false,
    onNews: (listener) => {
      tell = listener;
      return () => (tell = () => undefined);
    },
  };
}
