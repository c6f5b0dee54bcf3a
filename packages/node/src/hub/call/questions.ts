/*
 * What a server asks while it is called. A person may take days to answer and the process may end meanwhile, so nothing
 * waits: the call ends with `input_required` and the question, and is made again with the answer at hand. A server that
 * asks the same then gets it at once. Only a call that may be made once, and whose server asks in the middle of it, stays
 * open (`open-calls.ts`); servers on the newer protocol ask before they begin and expect to be called again.
 *
 * E1  A question belongs to the call during which it was asked. One that cannot be told apart from others is declined.
 * E2  Where nobody can be asked it is declined.
 * E3  No form asks for a secret, and no address that people should not open is shown to them.
 * E4  A server that comes to a good result without its answer has done its work.
 * E5  What was declined without a person is told: in the call's result, in its progress and in the server's log.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { CallToolResult, ElicitRequest, ElicitResult, RequestOptions } from "@modelcontextprotocol/client";
import type { Json } from "@ergon/core";
import {
  canonicalJson,
  gateError,
  isSecretField,
  MAX_QUESTIONS,
  type GivenAnswer,
  type Question,
} from "@ergon/core/schema";
import { showHidden } from "@ergon/core/engine";
import type { McpCall, McpResult } from "@ergon/core/hub";
import { checkWebAddress } from "../auth/web-address.ts";
import type { ServerEra } from "../connection/known-eras.ts";
import { createOpenCalls, type OpenCall } from "./open-calls.ts";

export type Elicit = (request: ElicitRequest["params"], signal: AbortSignal) => Promise<ElicitResult>;

export type Questions = {
  /** Makes a call, or goes on with the one of its name that was kept open. */
  readonly call: (request: McpCall, make: (asking: Asking) => Promise<McpResult>) => Promise<McpResult>;
  /** Hears what is asked while the call is under way. */
  readonly during: (asking: Asking, sent: Sent) => Promise<CallToolResult>;
  readonly elicit: Elicit;
};

type Sent = {
  readonly era: ServerEra;
  readonly options: RequestOptions;
  readonly call: (options: RequestOptions) => Promise<CallToolResult>;
};

export type QuestionsDeps = {
  readonly serverId: string;
  /** Of a server that runs elsewhere, the name of its machine. */
  readonly host?: string | undefined;
  readonly note: (text: string) => void;
  /** Somebody who is there now, and is asked what was not answered before. */
  readonly present?: Elicit | undefined;
};

/** One call, and what is asked during it. */
export type Asking = {
  readonly signal: AbortSignal | undefined;
  readonly answers: readonly GivenAnswer[] | undefined;
  /** Where it is kept open while a person is asked. */
  readonly open: OpenCall | undefined;
  readonly tell: McpCall["onProgress"];
  era: ServerEra | undefined;
  asked: Question | undefined;
  readonly declined: string[];
};

const MAX_SCHEMA_CHARS = 8 * 1024;
const MAX_MESSAGE_CHARS = 4_000;

export function createQuestions({ serverId, host, note, present }: QuestionsDeps): Questions {
  const current = new AsyncLocalStorage<Asking>();
  const underWay = new Set<Asking>();
  const openCalls = createOpenCalls({ serverId, inputRequired });

  return {
    call: (request, make) => {
      const { answers, signal, once, onProgress: tell } = request;
      const asking = { answers, tell, era: undefined, asked: undefined };
      if (once === undefined || answers === undefined || present !== undefined)
        return make({ ...asking, signal, open: undefined, declined: [] });
      return (
        openCalls.goOn(once, signal, answers) ??
        openCalls.begin(once, signal, (open) => make({ ...asking, signal: open.signal, open, declined: [] }))
      );
    },
    during: async (asking, { era, options, call }) => {
      const { answers, open } = asking;
      asking.era = era;
      underWay.add(asking);
      const made = () => (open === undefined ? call(options) : open.within(options, call));
      try {
        // Where nobody could answer, it does not matter which call a question belongs to.
        const isHeard = answers !== undefined || present !== undefined;
        const result = isHeard ? await current.run(asking, made) : await made();
        if (asking.asked !== undefined && result.isError === true) throw inputRequired(asking.asked);
        return withNotes(result, asking.declined);
      } catch (thrown) {
        const question = asking.asked ?? addressIn(thrown, asking);
        if (question === undefined || answers === undefined) throw thrown;
        throw inputRequired(question);
      } finally {
        underWay.delete(asking);
      }
    },
    elicit: async (request, signal) => {
      const asking = callOf();
      const question = questionOf(request, asking);
      if (question === undefined) return { action: "decline" };
      const given = asking?.answers?.findLast(({ key }) => contentOf(key) === question.key);
      if (given !== undefined) return resultOf(given.input);
      if (present !== undefined) return present(request, signal);
      if (asking === undefined) return { action: "decline" };
      if (asking.answers === undefined) return declined(asking, "something where nobody can be asked");
      const before = asking.answers.length + (asking.open?.asked() ?? 0);
      if (before >= MAX_QUESTIONS) return declined(asking, "more than a call may ask");
      if (asking.open === undefined || asking.era === "modern") {
        asking.asked = question;
        throw new Error("A person has to be asked; the call is made again with their answer.");
      }
      if (!asking.open.hasRoom()) return declined(asking, "something while many of its calls wait for answers");
      return resultOf(await asking.open.ask(question, signal));
    },
  };

  /** Over pipes the question does not say which call it belongs to; one that waits for an answer has asked already. */
  function callOf(): Asking | undefined {
    const stored = current.getStore();
    if (stored !== undefined) return stored;
    const calls = [...underWay];
    const busy = calls.filter(({ open }) => open?.isWaiting() !== true);
    const [only, another] = busy.length > 0 ? busy : calls;
    if (only !== undefined && another === undefined) return only;
    for (const asking of busy) declined(asking, "something while several of its calls were under way");
    if (busy.length === 0) declined(undefined, "something that belongs to no call");
    return undefined;
  }

  function questionOf(request: ElicitRequest["params"], asking: Asking | undefined): Question | undefined {
    const message = request.message.slice(0, MAX_MESSAGE_CHARS);
    const refuse = (what: string): undefined => void declined(asking, what);
    if (request.mode === "url") return addressQuestion(message, request.url, refuse);
    const { requestedSchema } = request;
    const text = canonicalJson(requestedSchema as Json);
    if (text.length > MAX_SCHEMA_CHARS) return refuse(`a form of more than ${String(MAX_SCHEMA_CHARS)} characters`);
    const secret = Object.entries(requestedSchema.properties).find(([name, field]) =>
      isSecretField(name, field as Json),
    );
    if (secret !== undefined) return refuse(`a secret ("${secret[0]}") in a form`);
    const inputSchema = requestedSchema as NonNullable<Question["inputSchema"]>;
    return { key: keyOf("form", request.message, text), message, inputSchema };
  }

  function addressQuestion(
    message: string,
    address: string,
    refuse: (what: string) => undefined,
  ): Question | undefined {
    try {
      const url = checkWebAddress(address, serverId, host);
      // What follows the path is often made anew for each question.
      return { key: keyOf("url", url.origin, url.pathname), message, url: url.href };
    } catch (thrown) {
      return refuse(thrown instanceof Error ? thrown.message : "an address");
    }
  }

  function addressIn(thrown: unknown, asking: Asking): Question | undefined {
    const [first] =
      (thrown as { readonly elicitations?: readonly ElicitRequest["params"][] } | null)?.elicitations ?? [];
    return first === undefined ? undefined : questionOf(first, asking);
  }

  function declined(asking: Asking | undefined, what: string): ElicitResult {
    const said = `It asked for ${what}; that was declined.`;
    note(`${said}\n`);
    const told = `The server "${serverId}" asked for ${showHidden(what)}; Ergon declined that.`;
    asking?.declined.push(told);
    asking?.tell?.({ message: told });
    return { action: "decline" };
  }

  function inputRequired(question: Question, meanwhile = ""): Error {
    const where = question.url === undefined ? "" : ` ${question.url}`;
    const message = `The server "${serverId}" asks: ${showHidden(question.message)}${where}${meanwhile}`;
    return gateError("input_required", message, { details: question });
  }
}

/** In the last text, so that the result keeps its shape. */
function withNotes(result: CallToolResult, notes: readonly string[]): CallToolResult {
  if (notes.length === 0) return result;
  const said = `[${[...new Set(notes)].join(" ")}]`;
  const last = result.content.at(-1);
  if (last?.type !== "text") return { ...result, content: [...result.content, { type: "text", text: said }] };
  return { ...result, content: [...result.content.slice(0, -1), { ...last, text: `${last.text}\n\n${said}` }] };
}

/** Of a question's key, what does not depend on the call that asked it. */
function contentOf(key: string): string {
  return key.split(".", 1)[0] ?? key;
}

function resultOf(input: Json): ElicitResult {
  if (input === null) return { action: "decline" };
  const isForm = typeof input === "object" && !Array.isArray(input);
  return { action: "accept", ...(isForm ? { content: input as NonNullable<ElicitResult["content"]> } : {}) };
}

function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
