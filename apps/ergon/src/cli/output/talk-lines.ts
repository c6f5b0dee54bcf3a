import type { Conversation, Entry } from "@ergon/core/schema";
import { oneLine, printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** What a person who talks sees of an entry; undefined for what is not for them. */
export function entryLine({ body }: Entry, { colors }: Pick<Terminal, "colors">): string | undefined {
  const { bold, dim, red } = colors;
  switch (body.kind) {
    case "message":
      return `${bold("you")}   ${printable(body.content)}`;
    case "response":
      return `${bold("ergon")} ${printable(body.content)}`;
    case "call":
      return dim(`  → ${oneLine(body.tool)} ${oneLine(JSON.stringify(body.args))}`);
    case "result":
      return body.success
        ? dim(`  ✓ ${oneLine(body.text).slice(0, MAX_RESULT)}`)
        : `  ${red("✗")} ${oneLine(body.text)}`;
    case "note":
      return dim(`  ${oneLine(body.text)}`);
    case "thought":
    case "energy":
      return undefined;
  }
}

const MAX_RESULT = 200;

/** What the conversation is at, in a few words; "" when it is the person's turn. */
export function stateWords({ state }: Pick<Conversation, "state">, newest: Entry | undefined): string {
  switch (state) {
    case "working":
      return newest?.body.kind === "call" ? `using ${oneLine(newest.body.tool)}` : "thinking";
    case "waiting":
      return "thinking";
    case "waiting_for_person":
      return "waiting for you";
    case "waiting_for_energy":
      return "waiting for energy";
    case "waiting_for_model":
      return "the model cannot be asked, waiting";
    case "snoozed":
      return "snoozed";
    case "answered":
    case "ended":
      return "";
  }
}
