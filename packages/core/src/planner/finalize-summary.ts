import { z } from "zod";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Json } from "../schema/json.ts";
import { adaptToolMetadata } from "../tools/adapt/tool-metadata.ts";
import { buildSafePrompt } from "../tools/build-safe-prompt.ts";
import { defineTool } from "../tools/define.ts";
import type { Tool, ToolContext, ToolRun } from "../tools/tool.ts";
import { FINALIZE_TOOL } from "./compile-actions.ts";
import { describeResult } from "./describe-result.ts";

/** Where the loop says which tools its plan has, in order, and where their results are. */
export const PLANNED_TOOLS_KEY = "plannedTools";
const PlannedTools = z.array(z.object({ tool: z.string(), place: z.string() }));

const SYSTEM = `You sum up for a person what an assistant's tools have found. Answer the person's message in plain prose, from
the findings alone: name the people, things and figures in them, and say what is missing. No lists of tools, no preamble.`;
const TEMPERATURE = 0.3;
const MAX_OUTPUT_TOKENS = 600;

/** Spec 1's last tool as a tool like any other. Without a model, or when it fails, the findings speak for themselves. */
export function createFinalizeSummary({ model }: { readonly model?: ChatModel | undefined } = {}): Tool {
  const tool = defineTool({
    name: FINALIZE_TOOL,
    title: "Sum up",
    description: "Sums up what the tools before it found, as the answer to the person. Always last.",
    argsSchema: z.object({}),
    effects: "read",
    usesAI: true,
    tags: ["summary"],
    run: async ({ context }, run) => {
      const findings = findingsIn(context);
      const composed = composeSummary(findings);
      return model === undefined || findings.length === 0
        ? composed
        : await told(model, context, findings, run, composed);
    },
  });
  return { ...adaptToolMetadata(tool), origin: "builtin" };
}

export type Finding = { readonly tool: string; readonly text: string };

/** One sentence or two for each tool that found something. */
export function composeSummary(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No tool found anything.";
  const [only] = findings;
  if (findings.length === 1 && only !== undefined) return only.text;
  return findings.map(({ text }) => (/[.!?…]$/.test(text) ? text : `${text}.`)).join("\n");
}

function findingsIn(context: ToolContext): readonly Finding[] {
  const planned = PlannedTools.safeParse(context[PLANNED_TOOLS_KEY]).data ?? [];
  const places = new Map(planned.map((one) => [one.place, one]));
  return [...places.values()].flatMap(({ tool, place }): Finding[] => {
    if (tool === FINALIZE_TOOL) return [];
    const output = context[place] as Json | undefined;
    return output === undefined || output === null ? [] : [{ tool, text: describeResult(output) }];
  });
}

async function told(
  model: ChatModel,
  context: ToolContext,
  findings: readonly Finding[],
  run: ToolRun,
  fallback: string,
): Promise<string> {
  try {
    const { system, user } = buildSafePrompt({
      model: model.id,
      system: SYSTEM,
      instructions: "Answer this message from the findings below.",
      userText: typeof context["lastMessage"] === "string" ? context["lastMessage"] : "",
      context: { findings: findings.map(({ tool, text }) => ({ tool, text })) },
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    });
    const { text } = await model.generate({
      messages: [
        { role: "system", content: system },
        { role: "user", content: user },
      ],
      temperature: TEMPERATURE,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      signal: run.signal,
    });
    return text.trim();
  } catch (thrown) {
    if (run.signal.aborted) throw thrown;
    const reason = thrown instanceof Error ? thrown.message : "unknown";
    run.logger.warn({ model: model.id, reason }, "The model did not sum up; the findings are given as they are.");
    run.progress({ message: "The model did not answer; the findings are given as they are." });
    return fallback;
  }
}
