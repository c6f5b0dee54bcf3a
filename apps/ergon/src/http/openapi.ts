import { AgenticPlan, PlanProblem, PlanStep, SessionCore, StoredEvent } from "@ergon/core";
import { LoopReply } from "@ergon/core/spec";
import { HistoryEntry, LoopState, OpenWait, Problem, ToolSummary } from "@ergon/core/schema";
import { TokenInfo } from "@ergon/node";
import { z } from "zod";
import { IDEMPOTENCY_KEY, MAX_KEY_CHARS } from "./server/keyed-requests.ts";
import { type AnswerShape, route, type Route } from "./server/route.ts";
import { CoreAnswer, ViewAnswer } from "./session-answers.ts";

const SCHEMAS = {
  AgenticPlan,
  CoreAnswer,
  HistoryEntry,
  LoopReply,
  LoopState,
  OpenWait,
  PlanProblem,
  PlanStep,
  Problem,
  SessionCore,
  StoredEvent,
  TokenInfo,
  ToolSummary,
  SessionView: ViewAnswer,
};

type Node = Record<string, unknown>;

export function openApiRoute(routes: readonly Route[], version: string): Route {
  let document: Node | undefined;
  const self: Route = route({
    method: "GET",
    path: "/openapi.json",
    operationId: "openApi",
    summary: "This document",
    access: "agent",
    answers: { 200: { description: "OpenAPI 3.1", schema: z.record(z.string(), z.unknown()) } },
    handle: () => ({ status: 200, body: (document ??= openApiDocument([...routes, self], version)) }),
  });
  return self;
}

/** The OpenAPI 3.1 document of the routes: their schemas are the ones that check requests. */
function openApiDocument(routes: readonly Route[], version: string): Node {
  const schemas = createSchemaComponents();
  const paths: Record<string, Node> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Ergon",
      version,
      description: "Runs plans durably.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } }, schemas: schemas.components() },
  };
}

function operation(route: Route, schemas: SchemaComponents): Node {
  const responses = Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [status, response(answer, schemas)]),
  );
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.access === "open" ? { security: [] } : {}),
    parameters: [
      ...parameters("path", route.params, schemas),
      ...parameters("query", route.query, schemas),
      ...(route.waits === true ? [WAIT] : []),
      ...(route.isStart === true ? [REQUEST_KEY] : []),
    ],
    ...(route.body === undefined
      ? {}
      : { requestBody: { content: { "application/json": { schema: schemas.of(route.body) } } } }),
    responses: { ...responses, default: problemResponse(schemas) },
  };
}

const WAIT = {
  in: "header",
  name: "Prefer",
  required: false,
  description: "wait=SECONDS: answer when the session has settled, or when so many seconds have passed",
  schema: { type: "string", examples: ["wait=10"] },
};

const REQUEST_KEY = {
  in: "header",
  name: IDEMPOTENCY_KEY,
  required: false,
  description:
    "names this request for 24 hours: sent again with the same key and body, it starts nothing and gets the first answer; with another body it is refused (409 run_conflict)",
  schema: { type: "string", minLength: 1, maxLength: MAX_KEY_CHARS },
};

function parameters(place: "path" | "query", object: z.ZodObject | undefined, schemas: SchemaComponents): Node[] {
  if (object === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(object) as {
    properties?: Record<string, Node>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    in: place,
    name,
    required: place === "path" || required.includes(name),
    schema,
  }));
}

function response(
  { description, schema, mediaType = "application/json" }: AnswerShape,
  schemas: SchemaComponents,
): Node {
  return schema === undefined
    ? { description }
    : { description, content: { [mediaType]: { schema: schemas.of(schema) } } };
}

function problemResponse(schemas: SchemaComponents): Node {
  return { description: "What was wrong", content: { "application/problem+json": { schema: schemas.of(Problem) } } };
}

type SchemaComponents = { readonly of: (schema: z.ZodType) => Node; readonly components: () => Node };

/** JSON Schemas of Zod's, those with a name as references to one place. */
function createSchemaComponents(): SchemaComponents {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) names.add(schema, { id });
  const components: Node = {};
  const convert = (registry: typeof names): Record<string, Node> => {
    // `input`: what has a default may be left out.
    return z.toJSONSchema(registry, { uri: uriOf, io: "input", unrepresentable: "any" }).schemas;
  };
  for (const [id, schema] of Object.entries(convert(names))) {
    if (id === "__shared") Object.assign(components, sharedOf(schema));
    else components[id] = local(schema);
  }
  return {
    components: () => components,
    of: (schema) => {
      const id = names.get(schema)?.id;
      if (id !== undefined) return { $ref: uriOf(id) };
      const registry = z.registry<{ id: string }>();
      for (const [name, known] of Object.entries(SCHEMAS)) registry.add(known, { id: name });
      registry.add(schema, { id: ANONYMOUS });
      return local(convert(registry)[ANONYMOUS] ?? {});
    },
  };
}

const ANONYMOUS = "Anonymous";

function uriOf(id: string): string {
  return `#/components/schemas/${id}`;
}

function sharedOf({ $defs = {} }: Node): Node {
  return Object.fromEntries(
    Object.entries($defs as Node).map(([name, schema]) => [`Shared_${name}`, local(schema as Node)]),
  );
}

/** References to Zod's shared definitions, said as OpenAPI says them. */
function local({ $schema: _schema, $id: _id, ...schema }: Node): Node {
  const text = JSON.stringify(schema).replaceAll(`${uriOf("__shared")}#/$defs/`, uriOf("Shared_"));
  return JSON.parse(text) as Node;
}
