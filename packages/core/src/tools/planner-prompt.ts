import { cleanText } from "./build-safe-prompt.ts";
import { type SignatureDetail, signatureOf } from "./signature.ts";
import type { Tool } from "./tool.ts";

/** A description longer than this is cut in the prompt; the tool itself keeps it whole. */
export const MAX_PROMPT_DESCRIPTION = 600;
const SHORT_DESCRIPTION = 160;
const MAX_SIGNATURE = 2_000;

const NO_TOOLS_PROMPT = "Available tools: none.";
const DETAILS: readonly SignatureDetail[] = ["full", "terse", "bare"];

/**
 * Spec 1's part of the planner's prompt: each tool with its description, its args, and what goes well before and after.
 * Where it would be longer than `maxChars`, it says less of each tool rather than of fewer.
 */
export function plannerPrompt(tools: readonly Tool[], maxChars: number = Number.POSITIVE_INFINITY): string {
  if (tools.length === 0) return NO_TOOLS_PROMPT;
  const pathways = pathwaysOf(tools);
  const written = (detail: SignatureDetail): string =>
    `Available tools:\n${tools.map((tool) => entryOf(tool, pathways.get(tool.id), detail)).join("\n")}`;
  return DETAILS.map(written).find((text) => text.length <= maxChars) ?? written("bare");
}

function entryOf(tool: Tool, pathway: Pathway | undefined, detail: SignatureDetail): string {
  const { after, before } = pathway ?? { after: [], before: [] };
  const { requiredContext } = tool;
  return [
    `- ${tool.id}: ${shortened(tool.description, detail === "bare" ? SHORT_DESCRIPTION : MAX_PROMPT_DESCRIPTION)}`,
    `  args: ${argsOf(tool, detail)}`,
    ...(requiredContext.length === 0 ? [] : [`  needs in the context: ${requiredContext.join(", ")}`]),
    ...(after.length === 0 ? [] : [`  recommended after: ${after.join(", ")}`]),
    ...(before.length === 0 ? [] : [`  recommended before: ${before.join(", ")}`]),
  ].join("\n");
}

function argsOf({ parameters }: Tool, detail: SignatureDetail): string {
  const levels = DETAILS.slice(DETAILS.indexOf(detail)).map((level) => cleanText(signatureOf(parameters, level)));
  return levels.find((text) => text.length <= MAX_SIGNATURE) ?? `${levels.at(-1)?.slice(0, MAX_SIGNATURE) ?? ""}…`;
}

type Pathway = { readonly after: string[]; readonly before: string[] };

/** Either side may name the other. A tool that is not in the list is not mentioned: the planner could not use it. */
function pathwaysOf(tools: readonly Tool[]): ReadonlyMap<string, Pathway> {
  const pathways = new Map<string, Pathway>(tools.map(({ id }) => [id, { after: [], before: [] }]));
  const link = (first: string, then: string): void => {
    const [earlier, later] = [pathways.get(first), pathways.get(then)];
    if (earlier === undefined || later === undefined || first === then) return;
    if (!earlier.before.includes(then)) earlier.before.push(then);
    if (!later.after.includes(first)) later.after.push(first);
  };
  for (const tool of tools) {
    for (const first of tool.suggestedPrerequisites) link(first, tool.id);
    for (const then of tool.suggestedPostrequisites) link(tool.id, then);
  }
  return pathways;
}

/** One line: a description must not look like another entry of the list, nor like a turn of the conversation. */
function shortened(description: string, limit: number): string {
  const line = cleanText(description).replaceAll(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit)}…`;
}
