/*
 * Questions to people about calls, and what their answers set going. The store keeps them, the engine waits for them; this
 * is where they are asked, listed, answered and ended.
 *
 * Q1  An answer is on the disk before anybody acts on it. If the process dies then, the engine finds it at the next start.
 * Q2  The same answer given twice is one answer; another answer to an answered question is refused.
 * Q3  Whoever may not see a question is told that there is none.
 * Q4  What was allowed for good is allowed as it was when the person was asked.
 */
import { accessError } from "../errors/access.ts";
import { toErgonError } from "../errors/ergon-error.ts";
import { hubError } from "../errors/hub.ts";
import { usageError } from "../errors/usage.ts";
import type { ApprovalQuestions } from "../ports/approval-questions.ts";
import type { ApprovalAnswer, ApprovalQuery, ApprovalStore } from "../ports/approval-store.ts";
import { isoTime, type Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Page } from "../ports/state-store.ts";
import type { Approval, ApprovalDecision, DecidedApproval, Remember, ToolGrant } from "../schema/approval.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { questionAbout } from "./approval-question.ts";
import { factsOf } from "./tool-facts.ts";
import type { ToolGrants } from "./tool-grants.ts";
import { grantOf } from "./tool-policy.ts";

/** A question that nobody answered for this long is over. */
export const APPROVAL_TTL_MS = 7 * 86_400_000;
/** How often questions whose time is over are looked for, and how many are ended at once. */
export const EXPIRY_SWEEP_MS = 30_000;
export const EXPIRY_BATCH = 100;
/** Answers that could not be told are kept to be told again; more are found by the engine at its next start. */
export const MAX_UNTOLD = 1_000;

export type ApprovalServiceDeps = {
  readonly store: ApprovalStore;
  readonly grants: Pick<ToolGrants, "put" | "remove">;
  readonly registry: Pick<ToolRegistry, "get" | "list">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ttlMs?: number;
  /** Also writes to the configuration what was allowed for good, where there is one that can be written. */
  readonly allowList?: AllowList;
  /** Takes it out of the configuration again. */
  readonly disallow?: Disallow;
  /** Waits for the server of a tool that is not there yet. */
  readonly reach?: (toolIds: readonly string[]) => Promise<void>;
};

/** Where people look up, and take back, what they allowed for good. False: it cannot be written there. */
export type AllowList = (allowed: { readonly serverId: string; readonly tools: readonly string[] }) => Promise<boolean>;

/** False: the configuration goes on allowing it, by a pattern or a rule, and nothing was changed. */
export type Disallow = (grant: ToolGrant) => Promise<boolean>;

/** Who asks for questions or answers them; what is not theirs is not there for them. */
export type Reader = {
  readonly name: string;
  /** Those whose questions they see; everybody's when absent. */
  readonly owners?: readonly string[];
  /** The answer came through a program's client. What is asked about each time is not answered there. */
  readonly throughClient?: boolean;
};

export type ApprovalService = ApprovalQuestions & {
  list(by: Reader, query: Omit<ApprovalQuery, "owner" | "owners">): Promise<Page<Approval>>;
  /** Throws `approval_not_found`. */
  find(by: Reader, id: string): Promise<Approval>;
  /** Throws `approval_not_found`, `approval_decided`, `approval_expired`, `approval_withdrawn`. */
  decide(by: Reader, id: string, decision: ApprovalDecision): Promise<DecidedApproval>;
  /** What was allowed for good, by the tool's name. */
  grants(query: { readonly limit: number; readonly cursor?: string }): Promise<Page<ToolGrant>>;
  /** From now on it is asked about again. Throws `grant_not_found`, `grant_configured`. */
  revoke(toolId: string): Promise<ToolGrant>;
  /** Resolves once the question is answered or over, or the signal aborts. */
  answered(id: string, signal: AbortSignal): Promise<void>;
  /** Tells `settle` of every answer from now on, and ends questions whose time is over. */
  start(settle: (approval: Approval) => Promise<void>): void;
  stop(): void;
};

export function createApprovalService(deps: ApprovalServiceDeps): ApprovalService {
  const { store, grants, registry, clock, logger, ttlMs = APPROVAL_TTL_MS, allowList } = deps;
  const untold = new Map<string, Approval>();
  const watched = new Map<string, Set<() => void>>();
  let settle: ((approval: Approval) => Promise<void>) | undefined;
  let stopTimer: (() => void) | undefined;

  return {
    ask: (call) => {
      const atMs = clock.now();
      const times = { askedAt: iso(atMs), expiresAt: iso(atMs + ttlMs) };
      return store.ask(questionAbout(call, registry.get(call.toolId), times));
    },
    read: (id) => store.read(id),
    withdraw: async (ids) => {
      if (ids.length === 0) return;
      await store.withdraw(ids, isoTime(clock));
      for (const id of ids) wake(id);
    },
    list: async ({ owners }, query) => {
      await endExpired();
      return await store.list(owners === undefined ? query : { ...query, owners });
    },
    find,
    decide,
    grants: (query) => store.listGrants(query),
    revoke,
    answered,
    start: (told) => {
      settle = told;
      sweepSoon();
    },
    stop: () => {
      stopTimer?.();
      stopTimer = undefined;
      settle = undefined;
      for (const id of watched.keys()) wake(id);
    },
  };

  async function find({ owners }: Reader, id: string): Promise<Approval> {
    await endExpired();
    const found = await store.read(id);
    if (found !== undefined && (owners === undefined || owners.includes(found.owner))) return found;
    throw notFound(id);
  }

  async function decide(by: Reader, id: string, given: ApprovalDecision): Promise<DecidedApproval> {
    const { decision, remember, feedback } = given;
    const asked = await find(by, id);
    refuseOddMemory(asked, given);
    const isAlwaysAsked = asked.alwaysAsk === true || registry.get(asked.tool)?.alwaysAsk === true;
    if (by.throughClient === true && isAlwaysAsked)
      throw accessError("forbidden", `"${asked.tool}" is answered for with "ergon approvals" or by a person's token.`);
    if (remember !== undefined && isAlwaysAsked)
      throw usageError("input_invalid", `"${asked.tool}" is asked about each time; it cannot be allowed for good.`);
    const approved = decision === "approve";
    const wanted = approved ? "approved" : "denied";
    // An answer whose acknowledgement was lost is given again.
    const said = { approved, by: by.name, at: isoTime(clock), ...(feedback === undefined ? {} : { feedback }) };
    const answer = asked.state === wanted ? asked : await answerOnce(id, wanted, said);
    try {
      const isAllowed = remember !== undefined && (await allowForGood(answer, remember, by.name));
      return isAllowed ? { ...answer, remembered: remember } : answer;
    } finally {
      await tell(answer);
    }
  }

  async function answerOnce(id: string, wanted: Approval["state"], said: ApprovalAnswer): Promise<Approval> {
    try {
      const answer = await store.answer(id, said);
      if (answer !== undefined) return answer;
    } catch (thrown) {
      const stands = await store.read(id);
      if (stands?.state !== wanted) throw thrown;
      return stands;
    }
    throw notFound(id);
  }

  /** The tool, or all of its server's, as they are now; one that has changed since the question was asked is left out. */
  async function allowForGood(
    { tool: toolId, server, fingerprint }: Approval,
    remember: Remember,
    by: string,
  ): Promise<boolean> {
    await deps.reach?.([toolId]);
    const asked = registry.get(toolId);
    const isSame = asked !== undefined && factsOf(asked).fingerprint === fingerprint;
    const siblings = registry.list().filter(({ hub }) => hub !== undefined && hub.serverId === server);
    const tools = (remember === "server" ? siblings : [asked]).flatMap((tool) =>
      tool === undefined || (tool.id === toolId && !isSame) ? [] : [{ id: tool.id, facts: factsOf(tool) }],
    );
    if (tools.length === 0) return false;
    const names = tools.map(({ facts }) => facts.identity.name);
    const pinned = server !== null && (await allowList?.({ serverId: server, tools: names })) === true;
    const at = isoTime(clock);
    for (const { id, facts } of tools) await grants.put({ ...grantOf(id, facts, { at, by }), pinned });
    return true;
  }

  async function revoke(toolId: string): Promise<ToolGrant> {
    const grant = await store.readGrant(toolId);
    if (grant === undefined)
      throw hubError("grant_not_found", `Nothing is allowed for good of "${toolId}".`, { details: { toolId } });
    if (grant.pinned === true && (await deps.disallow?.(grant)) === false) {
      const message = `The configuration allows "${toolId}", by a pattern of "autoApprove" or by a rule: change it there.`;
      throw hubError("grant_configured", message, { details: { toolId } });
    }
    await grants.remove(toolId);
    return grant;
  }

  async function tell(approval: Approval): Promise<void> {
    try {
      await settle?.(approval);
      untold.delete(approval.id);
    } catch (thrown) {
      if (untold.size < MAX_UNTOLD) untold.set(approval.id, approval);
      const error = toErgonError(thrown, "approval_untold").toJSON();
      logger.warn({ approvalId: approval.id, error }, "A session has not heard its answer yet; it is told again.");
    } finally {
      wake(approval.id);
    }
  }

  function sweepSoon(): void {
    stopTimer = clock.after(EXPIRY_SWEEP_MS, () => {
      sweep()
        .catch((thrown: unknown) => {
          const error = toErgonError(thrown, "store_unavailable").toJSON();
          logger.warn({ error }, "Questions whose time is over could not be ended; it is tried again.");
        })
        .finally(() => {
          if (stopTimer !== undefined) sweepSoon();
        });
    });
  }

  async function sweep(): Promise<void> {
    for (const approval of untold.values()) await tell(approval);
    await endExpired();
  }

  /** Also before each look: a question that can no longer be answered is not shown as open. */
  async function endExpired(): Promise<void> {
    for (;;) {
      const over = await store.expire(isoTime(clock), EXPIRY_BATCH);
      for (const approval of over) await tell(approval);
      if (over.length < EXPIRY_BATCH) return;
    }
  }

  async function answered(id: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = watched.get(id) ?? new Set();
    watched.set(id, waiting.add(resolve));
    signal.addEventListener("abort", () => resolve(), { once: true });
    try {
      const open = (await store.read(id))?.state === "pending";
      if (open && !signal.aborted) await promise;
    } finally {
      waiting.delete(resolve);
      if (waiting.size === 0) watched.delete(id);
    }
  }

  function wake(id: string): void {
    for (const resolve of watched.get(id) ?? []) resolve();
  }
}

function refuseOddMemory({ server, tool }: Approval, { decision, remember }: ApprovalDecision): void {
  if (remember === undefined) return;
  if (decision === "deny") throw usageError("input_invalid", '"remember" goes with "approve": it allows for good.');
  if (remember === "server" && server === null) {
    throw usageError("input_invalid", `"${tool}" belongs to no MCP server; "remember" can be "tool".`);
  }
}

function notFound(id: string): Error {
  return hubError("approval_not_found", `There is no approval "${id}".`, { details: { id } });
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
