import type { Client } from "@modelcontextprotocol/client";
import type { Json } from "@ergon/core";
import { hubError, type ServerQuestion } from "@ergon/core/hub";

export const MAX_LISTED = 1_000;
/** Of JSON; what is longer is no answer to read but a file to fetch. */
export const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

type AskOptions = { readonly signal?: AbortSignal; readonly timeout: number };

/** What a server has beside its tools; one that has none of a kind lists none. */
export async function askServer(client: Client, question: ServerQuestion, options: AskOptions): Promise<Json> {
  return bounded(await answered(client, question, options));
}

async function answered(client: Client, question: ServerQuestion, options: AskOptions): Promise<unknown> {
  const has = client.getServerCapabilities() ?? {};
  switch (question.kind) {
    case "resources": {
      if (has.resources === undefined) return { resources: [], resourceTemplates: [] };
      const { resources } = await client.listResources(undefined, options);
      // Many servers have resources and do not know of templates.
      const templates = await client.listResourceTemplates(undefined, options).catch(() => undefined);
      const resourceTemplates = templates?.resourceTemplates ?? [];
      return { resources: resources.slice(0, MAX_LISTED), resourceTemplates: resourceTemplates.slice(0, MAX_LISTED) };
    }
    case "resource":
      return { contents: (await client.readResource({ uri: question.uri }, options)).contents };
    case "prompts": {
      if (has.prompts === undefined) return { prompts: [] };
      return { prompts: (await client.listPrompts(undefined, options)).prompts.slice(0, MAX_LISTED) };
    }
    case "prompt": {
      const { description, messages } = await client.getPrompt(
        { name: question.name, arguments: { ...question.args } },
        options,
      );
      return { ...(description === undefined ? {} : { description }), messages };
    }
    case "completion": {
      if (has.completions === undefined) return { values: [] };
      const { of, argument, given } = question;
      const ref =
        "prompt" in of
          ? ({ type: "ref/prompt", name: of.prompt } as const)
          : ({ type: "ref/resource", uri: of.template } as const);
      const context = Object.keys(given).length === 0 ? {} : { context: { arguments: { ...given } } };
      return (await client.complete({ ref, argument: { ...argument }, ...context }, options)).completion;
    }
  }
}

function bounded(answer: unknown): Json {
  const text = JSON.stringify(answer);
  if (text.length <= MAX_ANSWER_CHARS) return JSON.parse(text) as Json;
  throw hubError("server_refused", `Its answer is longer than ${String(MAX_ANSWER_CHARS)} characters.`);
}
