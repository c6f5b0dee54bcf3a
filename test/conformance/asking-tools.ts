import {
  type CallToolResult,
  inputRequired,
  type InputRequests,
  type InputRequiredResult,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from "@modelcontextprotocol/server";
import { capabilitiesOf } from "../../apps/ergon/src/mcp/host/client-features.ts";
import type { McpCall, McpPrompt, McpTool } from "../../apps/ergon/src/mcp/host/surface.ts";
import { plainTool, text } from "./plain-tools.ts";

type Answer = CallToolResult | InputRequiredResult;

const NAME = form("What is your name?", { name: { type: "string" } });
const CONFIRM = form("Please confirm", { ok: { type: "boolean" } });
const GREETING = sampling("Generate a greeting", 50);
const ROOTS = { method: "roots/list", params: {} } as const;

/** Tools that need something of the client: its user, its model, its folders. */
export const askingTools: readonly McpTool[] = [
  plainTool(
    "test_sampling",
    async ({ prompt }, call) =>
      asked(call, { answer: sampling(JSON.stringify(prompt), 100) }) ?? text(`LLM response: ${shown(call, "answer")}`),
    { prompt: { type: "string" } },
  ),
  plainTool(
    "test_elicitation",
    async ({ message }, call) => {
      const fields = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      return (
        asked(call, { answer: form(JSON.stringify(message), fields) }) ??
        text(`User response: ${shown(call, "answer")}`)
      );
    },
    { message: { type: "string" } },
  ),
  plainTool("test_elicitation_sep1034_defaults", async (_, call) => {
    const fields = {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    };
    return (
      asked(call, { answer: form("Please review", fields) }) ?? text(`Elicitation completed: ${shown(call, "answer")}`)
    );
  }),
  plainTool("test_elicitation_sep1330_enums", async (_, call) => {
    const titled = ["First", "Second", "Third"].map((title, at) => ({
      const: `value${at + 1}`,
      title: `${title} Option`,
    }));
    const fields = {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    };
    return asked(call, { answer: form("Choose", fields) }) ?? text(`Elicitation completed: ${shown(call, "answer")}`);
  }),
  plainTool("test_missing_capability", async (_, { context }) => {
    if (capabilitiesOf(context, undefined)?.sampling === undefined) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    }
    return text("The client has a model.");
  }),
  plainTool("test_streaming_elicitation", async (_, call) => asked(call, { answer: CONFIRM }) ?? text("Confirmed.")),
  plainTool(
    "test_input_required_result_elicitation",
    async (_, call) => asked(call, { user_name: NAME }) ?? text(`Hello, ${shown(call, "user_name")}!`),
  ),
  plainTool(
    "test_input_required_result_sampling",
    async (_, call) =>
      asked(call, { capital_question: sampling("What is the capital of France?", 100) }) ??
      text(shown(call, "capital_question")),
  ),
  plainTool(
    "test_input_required_result_list_roots",
    async (_, call) => asked(call, { client_roots: ROOTS }) ?? text(shown(call, "client_roots")),
  ),
  plainTool("test_input_required_result_request_state", async (_, call) => {
    if (call.remembered() === undefined) return await remembering(call, { confirm: CONFIRM }, 1);
    return text(`state-ok ${shown(call, "confirm")}`);
  }),
  plainTool("test_input_required_result_tampered_state", async (_, call) => {
    if (call.remembered() === undefined) return await remembering(call, { confirm: CONFIRM }, 1);
    return text("The state came back as it was.");
  }),
  plainTool("test_input_required_result_multiple_inputs", async (_, call) => {
    const questions = { user_name: NAME, greeting: GREETING, client_roots: ROOTS };
    if (missing(call, questions)) return await remembering(call, questions, 1);
    return text(
      Object.keys(questions)
        .map((key) => shown(call, key))
        .join(" "),
    );
  }),
  plainTool("test_input_required_result_multi_round", async (_, call) => {
    const { round = 0 } = (call.remembered() ?? {}) as { readonly round?: number };
    if (round === 0)
      return await remembering(call, { step1: form("Step 1: What is your name?", { name: { type: "string" } }) }, 1);
    if (round === 1) {
      const color = form("Step 2: What is your favorite color?", { color: { type: "string" } });
      return await remembering(call, { step2: color }, 2);
    }
    return text(shown(call, "step2"));
  }),
  plainTool("test_input_required_result_capabilities", async (_, call) => {
    const can = capabilitiesOf(call.context, undefined);
    const questions: InputRequests = {
      ...(can?.sampling === undefined ? {} : { greeting: GREETING }),
      ...(can?.elicitation === undefined ? {} : { user_name: NAME }),
      ...(can?.roots === undefined ? {} : { client_roots: ROOTS }),
    };
    return Object.keys(questions).length === 0
      ? text("Nothing can be asked.")
      : (asked(call, questions) ?? text("Done."));
  }),
];

export const askingPrompt: McpPrompt = {
  definition: { name: "test_input_required_result_prompt", description: "A prompt that asks first" },
  get: async (_, call) => {
    const question = { user_context: form("What context should the prompt use?", { context: { type: "string" } }) };
    if (missing(call, question)) return inputRequired({ inputRequests: question });
    return { messages: [{ role: "user", content: { type: "text", text: shown(call, "user_context") } }] };
  },
};

/** The questions, unless all of them were answered. */
function asked(call: McpCall, questions: InputRequests): Answer | undefined {
  return missing(call, questions) ? inputRequired({ inputRequests: questions }) : undefined;
}

async function remembering(call: McpCall, questions: InputRequests, round: number): Promise<Answer> {
  return inputRequired({ inputRequests: questions, requestState: await call.remember({ round }) });
}

function missing(call: McpCall, questions: InputRequests): boolean {
  return Object.keys(questions).some((key) => inputResponse(call.answers, key).kind === "missing");
}

function shown(call: McpCall, key: string): string {
  return JSON.stringify(call.answers?.[key]);
}

function form(message: string, properties: Readonly<Record<string, object>>) {
  const required = Object.keys(properties);
  const requestedSchema = { type: "object", properties, required } as Parameters<
    typeof inputRequired.elicit
  >[0]["requestedSchema"];
  return inputRequired.elicit({ message, requestedSchema });
}

function sampling(prompt: string, maxTokens: number) {
  const messages = [{ role: "user" as const, content: { type: "text" as const, text: prompt } }];
  return { method: "sampling/createMessage" as const, params: { messages, maxTokens } };
}
