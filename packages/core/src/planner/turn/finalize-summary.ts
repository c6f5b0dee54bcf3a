import { z } from "zod";
import type { ChatModel } from "../../ports/chat-model.ts";
import { DOWNSTREAM_KEY } from "../../plans/join.ts";
import { errorKey, resultKey } from "../../plans/steps/tool-call.ts";
import { type BlobRef, isBlobRef } from "../../schema/blob.ts";
import type { Json } from "../../schema/values/json.ts";
import { adaptToolMetadata } from "../../tools/adapt/tool-metadata.ts";
import { buildSafePrompt } from "../../tools/build-safe-prompt.ts";
import { defineTool } from "../../tools/define.ts";
import { ownFailure } from "../../tools/gate/own-failure.ts";
import type { Tool, ToolContext, ToolRun } from "../../tools/tool.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import { describeResult } from "./describe-result.ts";

/** Where the loop says which tools its plan has, in order, and where their results are. */
export const PLANNED_TOOLS_KEY = "plannedTools";
const PlannedTools = z.array(z.object({ tool: z.string(), place: z.string() }));

const SYSTEM = `You sum up for a person what an assistant's tools have found. Answer the person's message in plain prose, from
the findings alone: name the people, things and figures in them, and say what is missing. Say plainly what failed and why, and never
tell what failed as if it were done. No lists of tools, no preamble.`;
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
    run: ({ context }, run) => summedUp(context, run, model),
  });
  const adapted = adaptToolMetadata(tool);
  return {
    ...adapted,
    origin: "builtin",
    body: async () => ({
      ...(await adapted.body()),
      // The run's own model, where it has one: its calls are in the trace.
      run: ({ context, infrastructure }, run) =>
        summedUp(context, run, model === undefined ? undefined : (infrastructure.model ?? model)),
    }),
  };
}

async function summedUp(context: ToolContext, run: ToolRun, model: ChatModel | undefined): Promise<string> {
  const found = findingsIn(context);
  const composed = composeSummary(found);
  return model === undefined || found.findings.length === 0
    ? composed
    : await told(model, context, found, run, composed);
}

type Finding = { readonly tool: string; readonly text: string };
export type Found = { readonly findings: readonly Finding[]; readonly failures: readonly Finding[] };

/** One sentence or two for each tool that found something, and for each that failed why. */
export function composeSummary({ findings, failures }: Found): string {
  const lines = [...findings.map(({ text }) => text), ...failures.map(({ tool, text }) => `${tool} failed: ${text}`)];
  const [only] = lines;
  if (only === undefined) return "No tool found anything.";
  return lines.length === 1 ? only : lines.map((text) => (/[.!?…]$/.test(text) ? text : `${text}.`)).join("\n");
}

/** What the context holds of the tools that the loop planned. */
export function findingsIn(context: ToolContext): Found {
  const planned = PlannedTools.safeParse(context[PLANNED_TOOLS_KEY]).data ?? [];
  const places = [...new Map(planned.map((one) => [one.place, one])).values()].filter(
    ({ tool }) => tool !== FINALIZE_TOOL,
  );
  const told = places.map(({ tool, place }) => {
    const output = context[place] as Json | undefined;
    const failure = ownFailure(output) ?? passedOver(context, tool, place);
    return { tool, output, failure };
  });
  return {
    findings: told.flatMap(({ tool, output, failure }) =>
      failure !== undefined || output === undefined || output === null
        ? []
        : [{ tool, text: isBlobRef(output) ? largeText(context, tool, output) : describeResult(output) }],
    ),
    failures: told.flatMap(({ tool, failure }) => (failure === undefined ? [] : [{ tool, text: failure.message }])),
  };
}

/** The error of a call that failed and was passed over. */
function passedOver(context: ToolContext, tool: string, place: string): { readonly message: string } | undefined {
  const at = place === resultKey(tool) ? tool : place;
  return PassedOver.safeParse(context[errorKey(at)] ?? context[errorKey(tool)]).data;
}

const PassedOver = z.object({ message: z.string() });

/** A value too large even for the context: what its action left for prompts. */
function largeText(context: ToolContext, tool: string, { $blob, bytes }: BlobRef): string {
  const left = Downstream.safeParse(context[DOWNSTREAM_KEY]).data?.[tool]?.dataSummary;
  return left ?? `${tool} found ${String(bytes)} bytes of data (blob ${$blob}).`;
}

const Downstream = z.record(z.string(), z.object({ dataSummary: z.string().optional() }));

async function told(
  model: ChatModel,
  context: ToolContext,
  { findings, failures }: Found,
  run: ToolRun,
  fallback: string,
): Promise<string> {
  try {
    const { system, user } = buildSafePrompt({
      model: model.id,
      system: SYSTEM,
      instructions: "Answer this message from the findings below.",
      userText: typeof context["lastMessage"] === "string" ? context["lastMessage"] : "",
      context: {
        findings: findings.map(({ tool, text }) => ({ tool, text })),
        ...(failures.length === 0 ? {} : { failed: failures.map(({ tool, text }) => ({ tool, why: text })) }),
      },
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
    return `${fallback}\n(${model.id} did not sum this up: ${reason})`;
  }
}
