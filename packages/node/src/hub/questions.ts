/*
 * What a server asks while it is called. A person may take days to answer and the process may end meanwhile, so nothing
 * waits: the call ends with `input_required` and the question, and is made again with the answer at hand. A server that
 * asks the same then gets it at once.
 *
 * E1  A question belongs to the call during which it was asked. One that cannot be told apart from others is declined.
 * E2  Where nobody can be asked it is declined.
 * E3  No form asks for a secret, and no address that people should not open is shown to them.
 * E4  A server that comes to a good result without its answer has done its work.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import {
  canonicalJson,
  gateError,
  isSecretField,
  MAX_QUESTIONS,
  showHidden,
  type GivenAnswer,
  type Json,
  type Question,
} from "@ergon/core";
import { checkWebAddress } from "./auth/web-address.ts";

export type Elicit = (request: ElicitRequest["params"], signal: AbortSignal) => Promise<ElicitResult>;

export type Questions = {
  readonly during: <R extends { readonly isError?: boolean | undefined }>(
    answers: Answers,
    call: () => Promise<R>,
  ) => Promise<R>;
  readonly elicit: Elicit;
};

export type QuestionsDeps = {
  readonly serverId: string;
  readonly note: (text: string) => void;
  /** Somebody who is there now, and is asked what was not answered before. */
  readonly present?: Elicit | undefined;
};

type Answers = readonly GivenAnswer[] | undefined;
type Asking = { readonly answers: Answers; asked: Question | undefined };

const MAX_SCHEMA_CHARS = 8 * 1024;
const MAX_MESSAGE_CHARS = 4_000;

export function createQuestions({ serverId, note, present }: QuestionsDeps): Questions {
  const current = new AsyncLocalStorage<Asking>();
  const underWay = new Set<Asking>();

  return {
    during: async (answers, call) => {
      const asking: Asking = { answers, asked: undefined };
      underWay.add(asking);
      try {
        // Where nobody could answer, it does not matter which call a question belongs to.
        const isHeard = answers !== undefined || present !== undefined;
        const result = isHeard ? await current.run(asking, call) : await call();
        if (asking.asked !== undefined && result.isError === true) throw inputRequired(asking.asked);
        return result;
      } catch (thrown) {
        const question = asking.asked ?? addressIn(thrown);
        if (question === undefined || answers === undefined) throw thrown;
        throw inputRequired(question);
      } finally {
        underWay.delete(asking);
      }
    },
    elicit: async (request, signal) => {
      const question = questionOf(request);
      if (question === undefined) return { action: "decline" };
      const asking = callOf();
      const given = asking?.answers?.find(({ key }) => key === question.key);
      if (given !== undefined) return resultOf(given.input);
      if (present !== undefined) return present(request, signal);
      if (asking?.answers === undefined || asking.answers.length >= MAX_QUESTIONS) return { action: "decline" };
      asking.asked = question;
      throw new Error("A person has to be asked; the call is made again with their answer.");
    },
  };

  /** Over pipes the question does not say which call it belongs to. */
  function callOf(): Asking | undefined {
    const [only, another] = underWay;
    const found = current.getStore() ?? (another === undefined ? only : undefined);
    if (found === undefined)
      note("It asked something while several calls were under way; the question was declined.\n");
    return found;
  }

  function questionOf(request: ElicitRequest["params"]): Question | undefined {
    const message = request.message.slice(0, MAX_MESSAGE_CHARS);
    if (request.mode === "url") return addressQuestion(message, request.url);
    const { requestedSchema } = request;
    const text = canonicalJson(requestedSchema as Json);
    if (text.length > MAX_SCHEMA_CHARS) return declined(`a form of more than ${String(MAX_SCHEMA_CHARS)} characters`);
    const secret = Object.entries(requestedSchema.properties).find(([name, field]) =>
      isSecretField(name, field as Json),
    );
    if (secret !== undefined) return declined(`a secret ("${secret[0]}") in a form`);
    const inputSchema = requestedSchema as NonNullable<Question["inputSchema"]>;
    return { key: keyOf("form", request.message, text), message, inputSchema };
  }

  function addressQuestion(message: string, address: string): Question | undefined {
    try {
      const url = checkWebAddress(address, serverId);
      // What follows the path is often made anew for each question.
      return { key: keyOf("url", url.origin, url.pathname), message, url: url.href };
    } catch (thrown) {
      return declined(thrown instanceof Error ? thrown.message : "an address");
    }
  }

  function addressIn(thrown: unknown): Question | undefined {
    const [first] =
      (thrown as { readonly elicitations?: readonly ElicitRequest["params"][] } | null)?.elicitations ?? [];
    return first === undefined ? undefined : questionOf(first);
  }

  function declined(what: string): undefined {
    note(`It asked for ${what}; that was declined.\n`);
  }

  function inputRequired(question: Question): Error {
    const where = question.url === undefined ? "" : ` ${question.url}`;
    const message = `The server "${serverId}" asks: ${showHidden(question.message)}${where}`;
    return gateError("input_required", message, { details: question });
  }
}

function resultOf(input: Json): ElicitResult {
  if (input === null) return { action: "decline" };
  const isForm = typeof input === "object" && !Array.isArray(input);
  return { action: "accept", ...(isForm ? { content: input as NonNullable<ElicitResult["content"]> } : {}) };
}

function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
