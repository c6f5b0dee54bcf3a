import { type AgenticPlan, Json, JsonObject, SessionCore, SessionStatus, StoredEvent } from "@ergon/core";
import { accessError, DryRunReport, Mode, RunDiff, RunId, SessionId, storeError } from "@ergon/core/schema";
import { MAX_PAGE_ROWS } from "@ergon/core/store-kit";
import type { SessionRef } from "@ergon/core/engine";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { conditional } from "./server/conditional.ts";
import { type RequestContext, route, type Route } from "./server/route.ts";
import { ACCEPTED, accepted, settled, ViewAnswer } from "./session-answers.ts";

const DEFAULT_PAGE_ROWS = 100;

export const SessionParams = z.object({ id: SessionId });
export const noSession = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  storeError("session_not_found", `No session "${id}".`);

const Limit = z.coerce.number().int().min(1).max(MAX_PAGE_ROWS);
const Cursor = z.string().min(1).max(1_000);

const Statuses = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === "string" ? given.split(",") : given))
  .pipe(z.array(SessionStatus).min(1));

const View = z.enum(["full", "core"]);
type View = z.infer<typeof View>;
const ChangeQuery = z.strictObject({ view: View.optional().describe("core: without context and history") });

const CreateBody = z.strictObject({
  context: JsonObject.optional(),
  mode: Mode.optional(),
  energyBudget: z.number().nonnegative().optional(),
  sessionId: SessionId.optional().describe("only for processes on the same data folder"),
});

export const PlanFields = {
  planId: z.string().max(1_000).optional(),
  plan: JsonObject.optional().describe("an AgenticPlan; what is wrong with it is said in `issues`"),
  input: Json.optional(),
};
export const hasOnePlan = ({
  planId,
  plan,
}: {
  readonly planId?: string | undefined;
  readonly plan?: unknown;
}): boolean => (planId === undefined) !== (plan === undefined);
export const ONE_PLAN = 'give "planId" or "plan", one of them';

const ExecuteBody = z
  .strictObject({
    ...PlanFields,
    id: RunId.optional().describe(
      "of the run: sent again with the same plan and input, it gives the run that is there",
    ),
    create: z.boolean().optional().describe("only for processes on the same data folder"),
  })
  .refine(hasOnePlan, ONE_PLAN);

const DryRunBody = z.strictObject(PlanFields).refine(hasOnePlan, ONE_PLAN);

const ForkBody = z.strictObject({
  fromStep: z.string().min(1).max(1_000).describe("a top-level step of the session's plan that has begun"),
  input: Json.optional().describe("in place of the input that the plan was given"),
  sessionId: SessionId.optional().describe("only for processes on the same data folder"),
  repeatOnce: z.boolean().optional().describe('also where a call of effects "once" would be made again'),
});

const ResumeBody = z.strictObject({
  input: Json.optional(),
  step: z.string().min(1).max(10_000).optional(),
  mayApprove: z
    .literal(false)
    .optional()
    .describe("whoever it is done for may not accept what the supervisor proposed"),
});

export function sessionRoutes({
  engine,
  outbox,
  plans,
}: Pick<HttpParts, "engine" | "outbox"> & { readonly plans: Pick<HttpParts["plans"], "dryRun"> }): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/sessions",
      operationId: "createSession",
      summary: "Make a session",
      access: "agent",
      body: CreateBody,
      answers: { 201: { description: "The session", schema: SessionCore } },
      handle: async ({ body }, asker) => {
        const { owner } = asker;
        if (body.sessionId !== undefined) onlyLocal(asker, OWN_IDS);
        const core = await engine.createSession({ owner, ...body } as Parameters<typeof engine.createSession>[0]);
        return { status: 201, headers: { location: `/sessions/${encodeURIComponent(core.sessionId)}` }, body: core };
      },
    }),
    route({
      method: "GET",
      path: "/sessions",
      operationId: "listSessions",
      summary: "Your sessions, newest first",
      access: "agent",
      query: z.strictObject({
        status: Statuses.optional(),
        runId: RunId.optional(),
        limit: Limit.default(DEFAULT_PAGE_ROWS),
        cursor: Cursor.optional(),
      }),
      answers: {
        200: {
          description: "A page",
          schema: z.object({ items: z.array(SessionCore), nextCursor: z.string().optional() }),
        },
      },
      handle: async ({ query: { status, runId, limit, cursor } }, { owner }) => {
        const page = await engine.listSessions({
          owner,
          limit,
          ...(status === undefined ? {} : { status }),
          ...(runId === undefined ? {} : { runId }),
          ...(cursor === undefined ? {} : { cursor }),
        });
        return { status: 200, body: page };
      },
    }),
    route({
      method: "GET",
      path: "/sessions/:id",
      operationId: "readSession",
      summary: "A session; with Prefer: wait, once it has settled",
      access: "agent",
      waits: true,
      params: SessionParams,
      unknown: noSession,
      query: z.strictObject({
        limit: z.coerce.number().int().min(0).max(MAX_PAGE_ROWS).optional(),
        cursor: Cursor.optional(),
        view: View.optional(),
      }),
      answers: {
        200: { description: "The session; context and history unless ?view=core", schema: ViewAnswer },
        304: { description: "With If-None-Match: it is as it was" },
      },
      handle: async ({ params, query: { limit, cursor, view } }, asker) => {
        const ref = { owner: asker.owner, sessionId: params.id };
        const waited = asker.waitMs !== undefined;
        if (waited || view === "core") {
          const core = await settled(engine, ref, asker);
          if (view === "core") return conditional({ core }, asker);
        }
        const found = await engine.readSession({
          ...ref,
          ...(limit === undefined ? {} : { historyLimit: limit }),
          ...(cursor === undefined ? {} : { historyCursor: cursor }),
        });
        return conditional(found, asker);
      },
    }),
    route({
      method: "GET",
      path: "/sessions/:id/trace",
      operationId: "traceSession",
      summary: "All that happened in a session, oldest first",
      access: "agent",
      params: SessionParams,
      unknown: noSession,
      query: z.strictObject({
        limit: Limit.default(MAX_PAGE_ROWS),
        cursor: z.coerce.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).default(0),
      }),
      answers: {
        200: {
          description: "A page",
          schema: z.object({ items: z.array(StoredEvent), nextCursor: z.string().optional() }),
        },
      },
      handle: async ({ params, query: { limit, cursor } }, { owner }) => {
        await engine.settled({ owner, sessionId: params.id, timeoutMs: 0 });
        const items = await outbox.read({ owner, sessionId: params.id, afterSeq: cursor, limit });
        const last = items.length === limit ? items.at(-1) : undefined;
        return { status: 200, body: { items, ...(last === undefined ? {} : { nextCursor: String(last.seq) }) } };
      },
    }),
    route({
      method: "GET",
      path: "/sessions/:id/diff",
      operationId: "diffSessions",
      summary: "Two runs call by call: this session's latest, and that of ?with=",
      access: "agent",
      params: SessionParams,
      unknown: noSession,
      query: z.strictObject({ with: z.string().min(1).max(1_000).describe("the other session's id") }),
      answers: { 200: { description: "What is the same and what differs", schema: RunDiff } },
      handle: async ({ params, query }, { owner }) => {
        const body = await engine.diff({ owner, sessionId: params.id, withSessionId: query.with });
        return { status: 200, body };
      },
    }),
    route({
      method: "POST",
      path: "/sessions/:id/execute-plan",
      operationId: "executePlan",
      summary: "Run a plan in a session",
      access: "agent",
      waits: true,
      isStart: true,
      params: SessionParams,
      unknown: noSession,
      query: ChangeQuery,
      body: ExecuteBody,
      answers: ACCEPTED,
      handle: async ({ params, query, body }, asker) => {
        const ref = { owner: asker.owner, sessionId: params.id };
        if (body.create === true) onlyLocal(asker, "Make the session first: POST /sessions.");
        // Preflight reads an inline plan as the stranger that it is, and names all that is wrong with it.
        const plan = body.planId ?? (body.plan as unknown as AgenticPlan);
        const id = body.id ?? asker.start?.id;
        const core = await engine.executePlan({
          ...ref,
          plan,
          ...(id === undefined ? {} : { id }),
          ...(body.input === undefined ? {} : { input: body.input }),
          ...(body.create === undefined ? {} : { create: body.create }),
        });
        asker.logger.info({ sessionId: params.id, planId: core.currentPlanId }, "A plan was started.");
        return await accepted(engine, core, asker, query.view);
      },
    }),
    route({
      method: "POST",
      path: "/sessions/:id/dry-run",
      operationId: "dryRunPlan",
      summary: "Walk a plan with simulated effects: nothing is called, asked, charged or kept",
      access: "agent",
      params: SessionParams,
      unknown: noSession,
      body: DryRunBody,
      answers: { 200: { description: "What a run in this session would do", schema: DryRunReport } },
      handle: async ({ params, body }, { owner }) => {
        const plan = body.planId ?? (body.plan as unknown as AgenticPlan);
        return { status: 200, body: await dryRun({ owner, sessionId: params.id }, plan, body.input) };
      },
    }),
    route({
      method: "POST",
      path: "/sessions/:id/resume",
      operationId: "resumeSession",
      summary: "Answer what a session waits for",
      access: "agent",
      waits: true,
      params: SessionParams,
      unknown: noSession,
      query: ChangeQuery,
      body: ResumeBody,
      answers: ACCEPTED,
      handle: async ({ params, query, body }, asker) => {
        const { input, step } = body;
        const core = await engine.resume({
          owner: asker.owner,
          sessionId: params.id,
          ...(input === undefined ? {} : { input }),
          ...(step === undefined ? {} : { step }),
          mayApprove: asker.principal.scope === "person" && body.mayApprove !== false,
        });
        return await accepted(engine, core, asker, query.view);
      },
    }),
    route({
      method: "POST",
      path: "/sessions/:id/cancel",
      operationId: "cancelSession",
      summary: "Cancel what a session does",
      access: "agent",
      waits: true,
      params: SessionParams,
      unknown: noSession,
      body: z.strictObject({}),
      answers: ACCEPTED,
      handle: async ({ params }, asker) =>
        await accepted(engine, await engine.cancel({ owner: asker.owner, sessionId: params.id }), asker),
    }),
    route({
      method: "POST",
      path: "/sessions/:id/fork",
      operationId: "forkSession",
      summary: "Start a new session from a step of this one",
      access: "agent",
      waits: true,
      params: SessionParams,
      unknown: noSession,
      body: ForkBody,
      answers: ACCEPTED,
      handle: async ({ params, body: { fromStep, input, sessionId, repeatOnce } }, asker) => {
        if (sessionId !== undefined) onlyLocal(asker, OWN_IDS);
        const core = await engine.fork({
          owner: asker.owner,
          sessionId: params.id,
          fromStep,
          ...(input === undefined ? {} : { input }),
          ...(sessionId === undefined ? {} : { newSessionId: sessionId }),
          ...(repeatOnce === undefined ? {} : { repeatOnce }),
        });
        asker.logger.info({ sessionId: core.sessionId, forkedFrom: params.id }, "A session was forked.");
        return await accepted(engine, core, asker);
      },
    }),
  ];

  /** As it would go in this session, which stays as it is: with its context, its mode and what is left of its budget. */
  async function dryRun(ref: SessionRef, plan: AgenticPlan | string, input: Json | undefined): Promise<DryRunReport> {
    const { core, context } = await engine.readSession({ ...ref, historyLimit: 1 });
    const { mode, energyBudget, energySpent } = core;
    return await plans.dryRun({
      owner: ref.owner,
      plan,
      context,
      readBlob: (request) => engine.readBlob(request),
      ...(input === undefined ? {} : { input }),
      ...(mode === undefined ? {} : { mode }),
      ...(energyBudget === undefined ? {} : { energyBudget: Math.max(0, energyBudget - energySpent) }),
    });
  }
}

const OWN_IDS = "Session ids are given by Ergon; leave sessionId out.";

/** Ids of one's own choice would tell which ones others have. */
export function onlyLocal({ principal }: RequestContext, instead: string): void {
  if (!principal.local) throw accessError("forbidden", instead);
}
