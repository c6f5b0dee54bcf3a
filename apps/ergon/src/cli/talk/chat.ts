import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Approval, createSystemClock, isErgonError } from "@ergon/core";
import { type Conversation, type Entry, isRestful, usageError } from "@ergon/core/schema";
import { createIds } from "@ergon/core/store-kit";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { answerForm } from "../output/answer-form.ts";
import { describeApproval } from "../output/approval-report.ts";
import { energyBar } from "../output/energy-bar.ts";
import { printable } from "../output/printable.ts";
import { entryLine, stateWords } from "../output/talk-lines.ts";
import { throughOwner } from "../../workspace/through-owner.ts";
import type { Workspace } from "../../workspace/workspace.ts";

const BUSY_LOOK_MS = 200;
/** Reminders come by themselves. */
const IDLE_LOOK_MS = 1_500;
const ENTRIES_LOOKED_AT = 50;
const APPROVALS_LOOKED_AT = 100;

export type ChatOptions = { readonly conversation?: string; readonly budget?: string };

/** A talk in the terminal. On a screen what is typed goes out at once; from a pipe each line waits for its answer. */
export async function chat(context: CommandContext, options: ChatOptions): Promise<ExitCode> {
  const { terminal, signal, compose } = context;
  const budget = budgetOf(options.budget);
  context.endsByStopping();
  const app = await compose();
  const reach: Reach = (work) =>
    // A message carries an id of its own: said again to the next owner, it is still said once.
    throughOwner(app, { recover: true, repeatable: true }, work);
  const isScreen = process.stdin.isTTY && !terminal.json;
  const lines = createInterface({
    input: process.stdin,
    ...(isScreen ? { output: process.stderr, terminal: true } : { terminal: false }),
  });
  // From now on: what is typed, and a Ctrl-D, while the conversation is being opened must not be missed.
  const typed = lines[Symbol.asyncIterator]();
  signal.addEventListener("abort", () => lines.close(), { once: true });
  const talk = createTalk({ context, reach, lines: isScreen ? lines : undefined, budget, id: options.conversation });
  try {
    if (isScreen) terminal.note(terminal.errorColors.dim("Talk to Ergon. /help shows commands, Ctrl-D ends."));
    if (options.conversation !== undefined) await talk.open();
    const watching = isScreen ? talk.watch(signal) : Promise.resolve();
    for await (const line of typed) {
      if (signal.aborted || !(await talk.hear(line.trim()))) break;
      if (!isScreen) await talk.settle(signal);
    }
    await talk.leave(watching);
    return talk.exit();
  } finally {
    lines.close();
    await app.close();
  }
}

type Reach = <T>(work: (workspace: Place) => Promise<T>) => Promise<T>;

type Place = Pick<Workspace, "conversations" | "approvals" | "isOwner">;

type Wait = NonNullable<Conversation["waiting"]>[number];

type TalkParts = {
  readonly context: CommandContext;
  readonly reach: Reach;
  readonly lines: Interface | undefined;
  readonly budget: number | undefined;
  readonly id: string | undefined;
};

function createTalk({ context, reach, lines, budget, id: given }: TalkParts) {
  const { terminal } = context;
  const owner = FIRST_PRINCIPAL;
  const ids = createIds({ clock: createSystemClock() });
  const left = new AbortController();
  // Ctrl-D and Ctrl-C close it at once; nothing is prompted there any more.
  lines?.once("close", () => left.abort());
  let id = given;
  let seen = 0;
  let current: Conversation | undefined;
  let shownPrompt = "";
  /** Messages of this talk that were not seen in the conversation yet: they stand on the screen already. */
  const sent = new Set<string>();
  let asked = new Set<string>();
  /** The call that the person is asked about; their next word is the answer to that. */
  let question: { readonly id: string; readonly isBeside: boolean } | undefined;

  const commands: Readonly<Record<string, (rest: string) => Promise<boolean>>> = {
    help: async () => say(HELP),
    energy: async () => {
      const { level, status } = await reach(({ conversations }) => conversations.energy());
      return say(`${energyBar(level)} ${level.toFixed(1)} ${status}`);
    },
    new: async () => {
      [id, seen, current] = [undefined, 0, undefined];
      return say("A new conversation begins with what you say next.");
    },
    list: async () => {
      const { items } = await reach(({ conversations }) => conversations.list({ owner, limit: 20 }));
      const rows = items.map(({ id: one, state, title }) => `${one}  ${state}  ${printable(title)}`);
      return say(rows.length === 0 ? "No conversations yet." : rows.join("\n"));
    },
    end: async (reason) => {
      const ref = id;
      if (ref === undefined) return say("There is nothing to end yet.");
      await reach(({ conversations }) => conversations.end({ owner, id: ref, reason: reason || "ended in the chat" }));
      [id, seen, current] = [undefined, 0, undefined];
      return say("Ended.");
    },
    quit: async () => false,
  };

  return {
    open: look,
    /** False when the talk is over. */
    hear: async (line: string): Promise<boolean> => {
      if (line === "") return true;
      const [, name, rest = ""] = /^\/(\w+)\s*(.*)$/.exec(line) ?? [];
      try {
        if (question !== undefined && name === undefined) return await decide(question.id, line);
        const command = name === undefined ? undefined : commands[name];
        if (command !== undefined) return await command(rest);
        if (name !== undefined) return say(`There is no command /${name}.\n${HELP}`);
        const energyBudget = id === undefined && budget !== undefined ? { energyBudget: budget } : {};
        const message = { owner, content: line, messageId: ids.next("msg"), ...energyBudget };
        sent.add(message.messageId);
        const target = id === undefined ? {} : { conversationId: id };
        id = (await reach(({ conversations }) => conversations.post({ ...message, ...target }))).conversationId;
      } catch (thrown) {
        if (!isErgonError(thrown) || thrown.code === "owner_gone") throw thrown;
        say(`${terminal.errorColors.red("refused:")} ${printable(thrown.message)}`);
      }
      return true;
    },
    /** Shows what comes until nothing more comes by itself. */
    settle: async (signal: AbortSignal): Promise<void> => {
      while (id !== undefined && !signal.aborted) {
        await look();
        if (current === undefined || isRestful(current.state)) return;
        await pause(BUSY_LOOK_MS, signal);
      }
    },
    /** Shows what comes as it comes, reminders included, until the talk is left. */
    watch: async (signal: AbortSignal): Promise<void> => {
      const over = AbortSignal.any([signal, left.signal]);
      while (!over.aborted) {
        await look();
        const isBusy = current !== undefined && !isRestful(current.state);
        await pause(isBusy ? BUSY_LOOK_MS : IDLE_LOOK_MS, over);
      }
    },
    leave: async (watching: Promise<void>): Promise<void> => {
      left.abort();
      await watching;
      clear();
      if (id === undefined || terminal.json) return;
      if (current === undefined || !isRestful(current.state)) await sayWhatGoesOn();
      terminal.note(`Come back with: ${terminal.command} chat --conversation ${id}`);
    },
    exit: (): ExitCode => (current?.state === "waiting_for_person" ? EXIT.paused : EXIT.ok),
  };

  async function sayWhatGoesOn(): Promise<void> {
    const isOurs = await reach(async ({ isOwner }) => isOwner);
    const where = isOurs ? "stops with this process and goes on when Ergon runs again" : "goes on in Ergon's server";
    terminal.note(`This conversation is not finished: what is under way ${where}.`);
  }

  async function look(): Promise<void> {
    const ref = id;
    if (ref === undefined) return await prompt(undefined);
    const view = await reach(({ conversations }) => conversations.read({ owner, id: ref, limit: ENTRIES_LOOKED_AT }));
    if (ref !== id) return;
    current = view.conversation;
    const fresh = view.history.filter(({ seq }) => seq > seen);
    for (const entry of fresh) show(ref, entry);
    seen = view.history.at(-1)?.seq ?? seen;
    for (const wait of current.waiting ?? []) {
      const name = wait.approvalId ?? `${wait.path} ${wait.since}`;
      if (asked.has(name)) continue;
      asked = new Set([...asked, name]);
      await putQuestion(ref, wait);
    }
    for (const approval of await beside(ref)) {
      if (asked.has(approval.id)) continue;
      asked = new Set([...asked, approval.id]);
      ask(approval);
    }
    if (current.waiting === undefined && question?.isBeside !== true) question = undefined;
    await prompt(view.history.at(-1));
  }

  async function putQuestion(sessionId: string, wait: Wait): Promise<void> {
    const { approvalId, message } = wait;
    if (approvalId === undefined) {
      say(`It needs you: ${printable(message)}\n  ${terminal.command} resume ${sessionId} --input ${answerForm(wait)}`);
      return;
    }
    const approval = await reach(({ approvals }) => approvals.find(approvalId));
    if (approval.state === "pending") ask(approval);
  }

  /** What is asked for this conversation in another session: letting a server start that it wanted. */
  async function beside(conversationId: string): Promise<readonly Approval[]> {
    const { items } = await reach(({ approvals }) => approvals.list({ state: "pending", limit: APPROVALS_LOOKED_AT }));
    return items.filter((one) => one.conversationId === conversationId && one.sessionId !== conversationId);
  }

  function ask(approval: Approval): void {
    question = { id: approval.id, isBeside: approval.sessionId !== id };
    const may = approval.alwaysAsk === true ? "yes or no" : "yes, no, or always (for this tool, as it is now)";
    say(`${describeApproval(terminal, approval)}\n  May it? ${may}`);
  }

  /** Anything but a clear yes is none; words behind a no reach the model. */
  async function decide(approvalId: string, line: string): Promise<true> {
    const [word = "", ...rest] = line.split(/\s+/);
    const isYes = /^(y|yes|a|always)$/i.test(word);
    if (!isYes && !/^(n|no)$/i.test(word))
      return say("Answer yes, no (and why), or always; the call waits until then.");
    const remember = /^a/i.test(word) ? { remember: "tool" as const } : {};
    const feedback = rest.length === 0 ? {} : { feedback: rest.join(" ") };
    const decision = isYes
      ? ({ decision: "approve", ...remember } as const)
      : ({ decision: "deny", ...feedback } as const);
    await reach(({ approvals }) => approvals.decide(approvalId, decision));
    question = undefined;
    return true;
  }

  function show(conversationId: string, entry: Entry): void {
    if (terminal.json) return terminal.printJson({ conversationId, seq: entry.seq, at: entry.at, ...entry.body });
    if (entry.body.kind === "message" && sent.delete(entry.body.id)) return;
    const line = entryLine(entry, terminal);
    if (line === undefined) return;
    clear();
    terminal.print(line);
  }

  function say(text: string): true {
    clear();
    terminal.note(text);
    return true;
  }

  function clear(): void {
    if (lines === undefined) return;
    terminal.status("");
    shownPrompt = "";
  }

  /** The energy, and what the conversation is at, stand where the person types. */
  async function prompt(newest: Entry | undefined): Promise<void> {
    if (lines === undefined) return;
    const { level } = await reach(({ conversations }) => conversations.energy());
    const words = current === undefined ? "" : stateWords(current, newest);
    const text = `${energyBar(level)} ${level.toFixed(0)}${words === "" ? "" : ` (${words})`} › `;
    if (text === shownPrompt || left.signal.aborted) return;
    shownPrompt = text;
    lines.setPrompt(text);
    lines.prompt(true);
  }
}

const HELP = `/energy     what is left
/list       your conversations
/new        another conversation
/end [why]  end this one
/quit       leave (Ctrl-D, too)`;

function budgetOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const units = Number(given);
  if (given.trim() === "" || !Number.isFinite(units) || units < 0)
    throw usageError("usage", `--budget takes units of energy, 0 or more, not "${given}".`);
  return units;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
