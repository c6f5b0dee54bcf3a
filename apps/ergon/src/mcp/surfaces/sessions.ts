import { type AgenticPlan, Json, type JsonObject, type SessionCore, SessionStatus } from "@ergon/core";
import { planNotFound, RunId, usageError } from "@ergon/core/schema";
import type { Ids } from "@ergon/core/store-kit";
import type { Waiting } from "@ergon/core/engine";
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { cancelOnce, type GoOnce, resumeOnce, startOnce } from "../../services/go-once.ts";
import type { PlanCatalog } from "../../services/plan-catalog.ts";
import { answer, outputSchema } from "../drive/answers.ts";
import { driveSession, reportSession } from "../drive/drive-session.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import { SESSION_OUTPUT, SessionAnswer, sessionAnswer, WHOLE_SESSION_OUTPUT } from "../drive/session-answer.ts";
import type { McpSurface, McpTool } from "../host/surface.ts";

/** How long a call waits for its session unless told otherwise: shorter than the time-outs that clients come with. */
export const DEFAULT_WAIT_SECONDS = 45;
const MAX_WAIT_SECONDS = 600;
const DEFAULT_LISTED = 20;
const MAX_LISTED = 100;

export type SessionDeps = { readonly reach: WithOwner; readonly plans: PlanCatalog; readonly ids: Ids };

export function sessionSurface({ reach, plans, ids }: SessionDeps): McpSurface {
  const tools: readonly McpTool[] = [
    {
      definition: define(RUN, RunArgs, SESSION_OUTPUT),
      call: async (args, call) => {
        const { planId, plan, input = {}, id, waitSeconds } = parse(RunArgs, args);
        const given = plan ?? plans.get(planId ?? "");
        if (given === undefined) throw planNotFound(planId ?? "", plans.ids());
        return await driveSession(reach, call, {
          tool: RUN.name,
          args,
          waitMs: waitSeconds * 1_000,
          begin: (waiting) => startPlan({ reach, ids }, call.owner, { plan: given as AgenticPlan, input, id }, waiting),
          report: reportSession,
        });
      },
    },
    {
      definition: define(GET, GetArgs, WHOLE_SESSION_OUTPUT),
      call: async (args, { owner, signal }) => {
        const { sessionId, waitSeconds } = parse(GetArgs, args);
        const waiting = waitSeconds > 0 ? { waitMs: waitSeconds * 1_000, signal } : {};
        return await reach({ repeatable: true }, async ({ engine }) => {
          const view = await engine.readSession({ owner, sessionId, historyLimit: 1, ...waiting });
          return answer({ ...sessionAnswer(view), context: view.context });
        });
      },
    },
    {
      definition: define(RESUME, ResumeArgs, SESSION_OUTPUT),
      call: async (args, call) => {
        const { sessionId, step, input, waitSeconds } = parse(ResumeArgs, args);
        const { owner } = call;
        const which = step === undefined ? {} : { step };
        const given = input === undefined ? {} : { input };
        const send = resumeOnce({ owner, sessionId, ...which, ...given, mayApprove: false });
        return await driveSession(reach, call, {
          tool: RESUME.name,
          args,
          waitMs: waitSeconds * 1_000,
          begin: (waiting) => goThrough(reach, send, waiting),
          report: reportSession,
        });
      },
    },
    {
      definition: define(CANCEL, RefArgs, SESSION_OUTPUT),
      call: async (args, call) => {
        const { owner } = call;
        const { sessionId } = parse(RefArgs, args);
        await goThrough(reach, cancelOnce({ owner, sessionId }));
        return await reach({ repeatable: true }, async ({ engine }) =>
          reportSession(await engine.readSession({ owner, sessionId, historyLimit: 1 })),
        );
      },
    },
    {
      definition: define(LIST, ListArgs, LIST_OUTPUT),
      call: async (args, { owner }) => {
        const { status, limit, cursor } = parse(ListArgs, args);
        const query = { owner, limit, ...(status === undefined ? {} : { status }) };
        const page = await reach({ repeatable: true }, ({ engine }) =>
          engine.listSessions({ ...query, ...(cursor === undefined ? {} : { cursor }) }),
        );
        const items = page.items.map((core) => sessionAnswer({ core, context: {} }));
        return answer({ items, ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) });
      },
    },
  ];
  return { tools: () => tools };
}

function goThrough(reach: WithOwner, go: GoOnce, waiting?: Waiting): Promise<SessionCore> {
  return reach({ repeatable: true }, ({ engine }) => go(engine, waiting));
}

/** Makes a session and starts the plan in it, in one commit; with an id, once. */
export function startPlan(
  { reach, ids }: Pick<SessionDeps, "reach" | "ids">,
  owner: string,
  { plan, input, id }: { readonly plan: AgenticPlan; readonly input: Json; readonly id: string | undefined },
  waiting?: Waiting,
): Promise<SessionCore> {
  if (id === undefined) {
    return goThrough(reach, startOnce({ owner, sessionId: ids.next("ses"), plan, input }), waiting);
  }
  return reach({ repeatable: true }, ({ engine }) => engine.startRun({ owner, plan, input, id }));
}

const SessionIdArg = z.string().min(1).max(128).describe("the session's id, from run_plan or list_sessions");
export const waitSeconds = (fallback: number) =>
  z
    .number()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .default(fallback)
    .describe("how long to wait for it to settle; it goes on by itself after that");

const RunArgs = z
  .strictObject({
    planId: z.string().max(1_000).optional().describe("a plan's id; ergon://plans lists them"),
    plan: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "an AgenticPlan of your own, instead of planId; its JSON Schema is the resource ergon://schemas/plan, list_tools has the tools, validate_plan checks it",
      ),
    input: Json.optional().describe("what the plan's parameters ask for"),
    id: RunId.optional().describe(
      "your id of the run: called again with the same plan and input, it gives the run that is there",
    ),
    waitSeconds: waitSeconds(DEFAULT_WAIT_SECONDS),
  })
  .refine(
    ({ planId, plan }) => (planId === undefined) !== (plan === undefined),
    'give "planId" or "plan", one of them',
  );
const RefArgs = z.strictObject({ sessionId: SessionIdArg });
const GetArgs = z.strictObject({ sessionId: SessionIdArg, waitSeconds: waitSeconds(0) });
const ResumeArgs = z.strictObject({
  sessionId: SessionIdArg,
  step: z.string().min(1).max(10_000).optional().describe("which wait, when several are open: its path or step id"),
  input: Json.optional().describe("the answer; after an error {action: retry | skip | abort}"),
  waitSeconds: waitSeconds(DEFAULT_WAIT_SECONDS),
});
const ListArgs = z.strictObject({
  status: z.array(SessionStatus).min(1).optional().describe("only these"),
  limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LISTED),
  cursor: z.string().min(1).max(1_000).optional().describe("nextCursor of the page before"),
});

const LIST_OUTPUT = outputSchema(
  z.toJSONSchema(z.object({ items: z.array(SessionAnswer), nextCursor: z.string().optional() }), {
    unrepresentable: "any",
  }),
);

type Described = Pick<Tool, "title" | "description" | "annotations"> & { readonly name: string };

const RUN: Described = {
  name: "run_plan",
  title: "Run a plan",
  description:
    "Runs a plan durably in a new session and waits for it. It survives crashes and goes on when this call ends; get_session finds it again.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
const GET: Described = {
  name: "get_session",
  title: "Look at a session",
  description:
    "Shows a session's status, what it waits for and what its steps have written. With waitSeconds, once it has settled.",
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const RESUME: Described = {
  name: "resume_session",
  title: "Answer a session",
  description:
    "Answers what a session waits for: a person's answer to its question, or what to do about an error. Waits for what follows.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
const CANCEL: Described = {
  name: "cancel_session",
  title: "Cancel a session",
  description: "Cancels a session for good. What its steps have done stays done.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};
const LIST: Described = {
  name: "list_sessions",
  title: "List sessions",
  description: "Lists your sessions, newest first.",
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export function define(described: Described, args: z.ZodType, output: Tool["outputSchema"]): Tool {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(args, { io: "input", unrepresentable: "any" });
  return { ...described, inputSchema: inputSchema as Tool["inputSchema"], outputSchema: output };
}

export function parse<T extends z.ZodType>(schema: T, args: JsonObject): z.output<T> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, code, message }) => ({ path: `/${path.join("/")}`, code, message }));
  const [first] = issues;
  throw usageError("input_invalid", `The arguments do not fit: ${first?.message ?? ""} at ${first?.path ?? "/"}.`, {
    details: { issues },
  });
}
