// One choice for one conversation: what a model wants next, or the planner that needs none. Nothing is written here; the
// answer is a function from the record as it is then to what it becomes.
import { canonicalJson, sha256Hex } from "../../schema/values/hash.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { RecentMessage } from "../../ports/conversation-memory.ts";
import type { ConversationStore } from "../../ports/conversation-store.ts";
import type { ConversationRecord, Entry } from "../../schema/conversation.ts";
import type { EnergyState } from "../../schema/energy.ts";
import type { Json, JsonObject, JsonSchema } from "../../schema/values/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { MAX_USER_TEXT } from "../../tools/build-safe-prompt.ts";
import { FINALIZE_TOOL } from "../../planner/compile-actions.ts";
import type { Planner, PlannerInput } from "../../planner/planner.ts";
import { readPlan } from "../../planner/read-plan.ts";
import { budgetOf } from "../energy/budget.ts";
import type { Act } from "../step/builtin-tools.ts";
import { replyTokens } from "../energy/model-selector.ts";
import type { Orchestrator } from "../step/orchestrator.ts";
import {
  answered,
  awaitingEnergy,
  chosen,
  ended,
  type Happened,
  refused,
  snoozed,
  stepped,
  thought,
} from "../step/progress.ts";
import { readChoice } from "../step/read-choice.ts";
import { buildTurnPrompt } from "../step/turn-prompt.ts";
import { waitingMessages } from "./waiting-messages.ts";

/** Steps towards one answer; then it is given with what there is. */
export const MAX_STEPS = 12;
/** The same call is made this often although it failed, and refused this often after that. */
const MAX_SAME_FAILURES = 2;
const MAX_STOPPED = 2;
const ENTRIES_SHOWN = 60;
/** What a call's arguments may take beside an answer's words. */
const ARGUMENT_TOKENS = 500;
const TEMPERATURE = 0.3;
const MODEL_TIMEOUT_MS = 120_000;

export const OFFLINE = "offline planner";
/** Who speaks when nobody else came to an answer. */
const OURSELVES = "ergon";

export type Situation = {
  readonly record: ConversationRecord;
  readonly energy: EnergyState;
  readonly others: readonly { readonly conversationId: string; readonly title: string }[];
  readonly news: readonly Json[];
  /** Servers are searched where no tool fits. */
  readonly discovers: boolean;
  readonly signal: AbortSignal;
};

export type Choice = {
  readonly become: (record: ConversationRecord, level: number) => Happened;
  /** Turn to this conversation next. */
  readonly focus?: string;
  /** What no tool fits, in words to search by. */
  readonly unmet?: string;
};

export type ChooseDeps = {
  readonly entries: ConversationStore["entries"];
  readonly orchestrator: Orchestrator;
  readonly offline: Planner;
  readonly readContext: (ref: { readonly owner: string; readonly sessionId: string }) => Promise<JsonObject>;
  readonly clock: Clock;
};

/** Throws what the model throws. */
export async function chooseByModel(deps: ChooseDeps, model: ChatModel, situation: Situation): Promise<Choice> {
  const { orchestrator, clock } = deps;
  const { record, energy, others, news, signal } = situation;
  const limit = ENTRIES_SHOWN + (record.pending?.messages?.length ?? 0);
  const entries = await deps.entries({ id: record.id, limit });
  const asked = waitingMessages(record, entries, MAX_USER_TEXT);
  const seen = asked.at(-1)?.seq ?? record.lastMessage;
  const lastStep = whyLast(record);
  const about = asked.length === 0 ? textOf(entries) : asked.map(({ content }) => content).join("\n");
  const tools = await orchestrator.offer(about, lastStep === undefined ? "all" : "closing");
  const outputTokens = replyTokens(energy.level);
  const { system, user } = buildTurnPrompt({
    model: model.id,
    record,
    entries,
    asked,
    tools,
    energy,
    others,
    news,
    replyTokens: outputTokens,
    now: isoTime(clock),
    ...(lastStep === undefined ? {} : { lastStep }),
  });
  const { text } = await model.generate({
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
    schema: callSchema(tools.map(({ id }) => id)),
    temperature: TEMPERATURE,
    maxOutputTokens: outputTokens + ARGUMENT_TOKENS,
    timeoutMs: MODEL_TIMEOUT_MS,
    signal,
  });
  const choice = readChoice(text);
  const say = (content: string, by: string) => (now: ConversationRecord, level: number) =>
    answered(now, { content, by, seen, level, at: isoTime(clock) });
  const close = (why: string): Choice => ({ become: say(`I stopped here without a full answer: ${why}`, OURSELVES) });

  if (choice.kind === "words") return { become: say(choice.text, model.id) };
  if (choice.kind === "unreadable") {
    if (lastStep !== undefined) return close(lastStep);
    return { become: (now) => refused(now, { tool: "(your answer)", why: choice.why }, isoTime(clock)) };
  }
  const { action } = choice;
  const routed = await orchestrator.route(action);
  if (routed.kind === "act" && !(lastStep !== undefined && !CLOSING_ACTS.has(routed.act.tool)))
    return choiceOf(routed.act);
  if (lastStep !== undefined) return close(lastStep);
  if (routed.kind === "missing") {
    const unmet = `${action.tool} ${about}`;
    return { ...refuse(situation.discovers ? `${routed.why} ${SEARCHING}` : routed.why), unmet };
  }
  if (routed.kind === "refused") return refuse(routed.why);
  const failures = record.pending?.failures[callKey(action)] ?? 0;
  if (failures < MAX_SAME_FAILURES)
    return { become: (now) => chosen(now, { actions: [action], answers: false, seen }, isoTime(clock)) };
  const why = "This very call has failed before in a way that repeating does not mend, and is not made again.";
  if ((record.pending?.stopped ?? 0) + 1 < MAX_STOPPED) return refuse(why, true);
  return close(`"${action.tool}" was called with the same arguments again and again and failed each time.`);

  function refuse(why: string, stopped = false): Choice {
    return { become: (now) => refused(now, { tool: action.tool, why, stopped }, isoTime(clock)) };
  }

  function choiceOf(act: Act): Choice {
    switch (act.tool) {
      case "respond":
        return { become: say(act.content, model.id) };
      case "think":
        return { become: (now) => thought(now, act.thought, isoTime(clock)) };
      case "await_energy":
        return { become: (now) => awaitingEnergy(now, act.level, isoTime(clock)) };
      case "end_conversation":
        return { become: (now) => ended(now, act.reason, isoTime(clock)) };
      case "snooze_conversation":
        return {
          become: (now) => {
            const until = new Date(clock.now() + act.minutes * MINUTE_MS).toISOString();
            return snoozed(now, { ...act, until, seen }, isoTime(clock));
          },
        };
      case "select_conversation": {
        const { conversationId } = act;
        if (!others.some((other) => other.conversationId === conversationId))
          return refuse(`There is no other open conversation "${conversationId}" of this person.`);
        const text = `Turned to conversation ${conversationId} first.`;
        return {
          focus: conversationId,
          become: (now) => ({ record: stepped(now, isoTime(clock)), entries: [{ kind: "note", text }] }),
        };
      }
    }
  }
}

/** Without a model the planner of spec 1 answers one message at a time: with what its tools find, or with a question. */
export async function chooseOffline(deps: ChooseDeps, { record, discovers, signal }: Situation): Promise<Choice> {
  const { clock, orchestrator } = deps;
  // The person wrote it with what had been said by then in view, and nothing of what came after.
  const [oldest] = record.pending?.messages ?? [];
  const upTo = oldest === undefined ? {} : { before: oldest + 1 };
  const entries = await deps.entries({ id: record.id, limit: ENTRIES_SHOWN, ...upTo });
  const [asked] = waitingMessages(record, entries);
  const seen = asked?.seq ?? record.lastMessage;
  const input = await plannerInput(deps, record, entries, asked?.content ?? "");
  const { plan, question, nothingFits } =
    input.message === ""
      ? { plan: [], question: newestNote(entries), nothingFits: false }
      : readPlan(await deps.offline({ ...input, tools: await orchestrator.tools(), signal }));
  const actions = plan.filter(({ tool }) => tool !== FINALIZE_TOOL);
  if (actions.length > 0) return { become: (now) => chosen(now, { actions, answers: true, seen }, isoTime(clock)) };
  const isUnmet = nothingFits === true;
  const said = question ?? "I know of no tool for this.";
  const content = offlineAnswer(record, isUnmet && discovers ? `${said} ${SEARCHING}` : said);
  return {
    become: (now, level) => answered(now, { content, by: OFFLINE, seen, level, at: isoTime(clock) }),
    ...(isUnmet ? { unmet: input.message } : {}),
  };
}

/** Said once in a conversation: a person should know who does not answer. */
export function offlineAnswer({ answers }: Pick<ConversationRecord, "answers">, content: string): string {
  if (answers > 0) return content;
  return `${content}\n\n(No model is configured: this is the offline planner, which can only choose tools and say what they found.)`;
}

export function callKey({ tool, args }: Pick<PlannedAction, "tool" | "args">): string {
  return sha256Hex(canonicalJson({ tool, args })).slice(0, KEY_DIGITS);
}

const SEARCHING = "The registry of MCP servers is being searched for one that could help; what it has is noted here.";
const KEY_DIGITS = 16;
const MINUTE_MS = 60_000;
const CLOSING_ACTS = new Set<string>(["respond", "end_conversation"]);

function whyLast(record: ConversationRecord): string | undefined {
  const budget = budgetOf(record);
  if (budget?.status === "depleted") return `the energy budget of ${String(budget.units)} units is used up.`;
  const { steps = 0 } = record.pending ?? {};
  return steps >= MAX_STEPS - 1 ? `${String(MAX_STEPS)} steps are all that one answer may take.` : undefined;
}

/** What is being talked about, for the choice of tools. */
function textOf(entries: readonly Entry[]): string {
  const said = entries.flatMap(({ body }) =>
    body.kind === "message" ? [body.content] : body.kind === "note" ? [body.text] : [],
  );
  return said.slice(0, 3).join("\n");
}

function newestNote(entries: readonly Entry[]): string {
  const note = entries.find(({ body }) => body.kind === "note")?.body;
  return note?.kind === "note" ? note.text : "";
}

async function plannerInput(
  { readContext }: ChooseDeps,
  { id: sessionId, owner }: ConversationRecord,
  entries: readonly Entry[],
  message: string,
): Promise<Omit<PlannerInput, "tools">> {
  const recentMessages = entries
    .flatMap(({ at, body }): RecentMessage[] => {
      if (body.kind === "message") return [{ role: "user", content: body.content, at }];
      return body.kind === "response" ? [{ role: "assistant", content: body.content, at }] : [];
    })
    .reverse();
  return {
    message,
    mode: "general",
    sessionId,
    context: { ...(await readContext({ owner, sessionId })), recentMessages },
    conversation: { recentMessages, semanticMatches: [] },
    recommendations: [],
    note: { modelCall: () => undefined, warning: () => undefined },
  };
}

const MAX_ENUM = 200;

function callSchema(ids: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: {
      tool: ids.length <= MAX_ENUM ? { type: "string", enum: [...ids] } : { type: "string" },
      args: { type: "object", additionalProperties: true },
    },
    required: ["tool", "args"],
    additionalProperties: false,
  };
}
