import { PassThrough } from "node:stream";
import type { Json } from "@ergon/core";
import { expect, it } from "vitest";
import { printOffers } from "./print-offers.ts";
import { createTerminal } from "./terminal.ts";

it("shows what a server offers as a table, and what has another form as it is", () => {
  const resource = { uri: "file:///a.txt", name: "a", description: "A file." };
  expect(
    shown("resources", { resources: [resource], resourceTemplates: [{ uriTemplate: "file:///{x}", name: "any" }] }),
  ).toBe("ADDRESS        NAME  DESCRIPTION\nfile:///a.txt  a     A file.\nfile:///{x}    any\n");
  expect(shown("prompts", { prompts: [{ name: "review", description: "Reviews\na text." }] })).toBe(
    "PROMPT  DESCRIPTION\nreview  Reviews a text.\n",
  );
  expect(shown("prompts", { prompts: [] })).toBe("It offers no prompts.\n");
  expect(shown("resources", { resources: "odd" })).toBe('{\n  "resources": "odd"\n}\n');
});

function shown(kind: "resources" | "prompts", said: Json): string {
  const stream = new PassThrough() as unknown as PassThrough & NodeJS.WriteStream;
  printOffers(createTerminal({ stdout: stream, stderr: stream }, false), kind, said);
  return String(stream.read());
}
