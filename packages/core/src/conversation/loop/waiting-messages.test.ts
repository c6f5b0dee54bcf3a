import { expect, it } from "vitest";
import type { Entry, EntryBody } from "../../schema/conversation.ts";
import { waitingMessages } from "./waiting-messages.ts";

const AT = "2026-01-01T00:00:00.000Z";
const says = (content: string): EntryBody => ({ kind: "message", id: content, content });
const response: EntryBody = { kind: "response", id: "r", content: "yes", by: "x", energyLevel: 1 };
/** Newest first, as the store gives them. */
const log = (...bodies: readonly EntryBody[]): Entry[] =>
  bodies.map((body, n) => ({ seq: n + 1, at: AT, body })).reverse();
const pending = { since: AT, steps: 0, failures: {}, stopped: 0 };
const texts = (found: ReturnType<typeof waitingMessages>) => found.map(({ content }) => content);

it("A message waits that was written before an answer to an earlier one.", () => {
  const entries = log(says("a"), says("b"), response, says("c"));
  expect(texts(waitingMessages({ pending: { ...pending, messages: [2, 4] } }, entries, 100))).toEqual(["b", "c"]);
});

it("Messages are given whole, up to the limit of characters, and one at least.", () => {
  const entries = log(says("aaaa"), says("bb"), says("c"));
  const of = (maxChars: number) =>
    texts(waitingMessages({ pending: { ...pending, messages: [1, 2, 3] } }, entries, maxChars));
  expect(of(0)).toEqual(["aaaa"]);
  expect(of(9)).toEqual(["aaaa"]);
  expect(of(10)).toEqual(["aaaa", "bb"]);
  expect(of(13)).toEqual(["aaaa", "bb", "c"]);
});

it("In a record of 0.1.0 the messages since the last answer wait.", () => {
  expect(texts(waitingMessages({ pending }, log(says("a"), response, says("b"), says("c")), 100))).toEqual(["b", "c"]);
  expect(texts(waitingMessages({ pending }, log(says("a")), 100))).toEqual(["a"]);
  expect(waitingMessages({ pending }, log(says("a"), response), 100)).toEqual([]);
});
