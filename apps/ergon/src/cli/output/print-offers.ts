import type { Json } from "@ergon/core";
import { z } from "zod";
import { oneLine, printable } from "./printable.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** What a server offers: resources have an address, their templates the form of one, prompts a name. */
const Offer = z.looseObject({
  uri: z.string().optional(),
  uriTemplate: z.string().optional(),
  name: z.string().default(""),
  title: z.string().optional(),
  description: z.string().default(""),
});
const Offers = z.object({
  resources: z.array(Offer).default([]),
  resourceTemplates: z.array(Offer).default([]),
  prompts: z.array(Offer).default([]),
});

export function printOffers(terminal: Terminal, kind: "resources" | "prompts", said: Json): void {
  const offers = Offers.safeParse(said);
  if (!offers.success) return terminal.print(printable(JSON.stringify(said, undefined, 2)));
  const { resources, resourceTemplates, prompts } = offers.data;
  const all = [...resources, ...resourceTemplates, ...prompts];
  if (all.length === 0) return terminal.note(`It offers no ${kind}.`);
  const rows = all.map(({ uri, uriTemplate, name, title, description }) => {
    const address = uri ?? uriTemplate;
    return [...(address === undefined ? [name] : [address, title ?? name]), description].map(oneLine);
  });
  const header = kind === "prompts" ? ["PROMPT", "DESCRIPTION"] : ["ADDRESS", "NAME", "DESCRIPTION"];
  terminal.print(table(rows, { columns: terminal.columns, header }));
}
