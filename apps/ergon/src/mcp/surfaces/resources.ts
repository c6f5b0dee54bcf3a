import { isErgonError } from "@ergon/core";
import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { PlanCatalog } from "../../services/plan-catalog.ts";
import type { McpWorkspace, WithOwner } from "../drive/with-owner.ts";
import type { McpCall, McpResources, McpSurface } from "../host/surface.ts";

/** Sessions that a list shows; list_sessions and the template reach the others. */
const MAX_LISTED_SESSIONS = 50;
const MEDIA_TYPE = "application/json";

type Kind = "sessions" | "plans" | "loops";

/** `ergon://sessions/{id}`, `ergon://plans/{id}`, `ergon://loops/{id}`. */
export function resourceSurface({
  reach,
  plans,
}: {
  readonly reach: WithOwner;
  readonly plans: PlanCatalog;
}): McpSurface {
  const looking = <T>(work: (workspace: McpWorkspace) => Promise<T>): Promise<T> => reach({ repeatable: true }, work);

  const read = async (kind: Kind, id: string, owner: string): Promise<unknown> => {
    if (kind === "plans") return plans.get(id);
    return await looking<unknown>(({ engine, loops }) =>
      kind === "sessions" ? engine.readSession({ owner, sessionId: id }) : loops.read({ owner, loop_id: id }),
    );
  };

  const ids = async (kind: Kind, { owner }: McpCall): Promise<readonly { id: string; description: string }[]> => {
    if (kind === "plans") return plans.all.map(({ id, plan }) => ({ id, description: plan.description }));
    return await looking(async ({ engine, loops }) => {
      if (kind === "loops") {
        return (await loops.list({ owner })).map(({ id, message = "" }) => ({ id, description: message }));
      }
      const { items } = await engine.listSessions({ owner, limit: MAX_LISTED_SESSIONS });
      return items.map(({ sessionId, status, currentPlanId = "no plan" }) => ({
        id: sessionId,
        description: `${currentPlanId}, ${status}`,
      }));
    });
  };

  const resources: McpResources = {
    templates: () => TEMPLATES,
    list: async (call) => {
      const all = await Promise.all(KINDS.map(async (kind) => ({ kind, found: await ids(kind, call) })));
      return all.flatMap(({ kind, found }) => found.map((one) => resourceOf(kind, one)));
    },
    read: async (uri, { owner }) => {
      const [, kind, id] = /^ergon:\/\/(sessions|plans|loops)\/([^/?#]+)$/.exec(uri) ?? [];
      if (kind === undefined || id === undefined) return undefined;
      const found = await orNothing(() => read(kind as Kind, decodeURIComponent(id), owner));
      if (found === undefined) return undefined;
      return { contents: [{ uri, mimeType: MEDIA_TYPE, text: JSON.stringify(found) }] };
    },
    complete: async (template, { value }, call) => {
      const kind = KINDS.find((known) => template === `ergon://${known}/{id}`);
      if (kind === undefined) return undefined;
      return { values: (await ids(kind, call)).map(({ id }) => id).filter((id) => id.startsWith(value)) };
    },
  };
  return { resources };
}

const KINDS: readonly Kind[] = ["plans", "loops", "sessions"];

const TEMPLATES: readonly ResourceTemplateType[] = [
  template("sessions", "A session", "Its status, its context and its newest calls"),
  template("plans", "A plan", "The plan itself, as it runs"),
  template("loops", "A refinement loop", "Its status and every score"),
];

function template(kind: Kind, title: string, description: string): ResourceTemplateType {
  return { uriTemplate: `ergon://${kind}/{id}`, name: kind, title, description, mimeType: MEDIA_TYPE };
}

function resourceOf(kind: Kind, { id, description }: { readonly id: string; readonly description: string }): Resource {
  return { uri: `ergon://${kind}/${encodeURIComponent(id)}`, name: id, description, mimeType: MEDIA_TYPE };
}

const NOT_THERE = new Set(["session_not_found", "loop_not_found", "loop_validation"]);

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof URIError || (isErgonError(thrown) && NOT_THERE.has(thrown.code))) return undefined;
    throw thrown;
  }
}
