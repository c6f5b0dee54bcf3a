import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Served } from "./serve.fixture.ts";

describe("GET /openapi.json", () => {
  let world: EngineWorld;
  let served: Served;
  let document: Record<string, unknown>;
  beforeAll(async () => {
    world = createEngineWorld();
    served = await serve(world);
    document = (await served.ask("GET", "/openapi.json")).body;
  });
  afterAll(async () => {
    await served.close();
    await world.close();
  });

  it("is valid OpenAPI 3.1", async () => {
    const result = await new Validator().validate(document);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(document["openapi"]).toBe("3.1.0");
  });

  it("points to nothing that is not in it", () => {
    const text = JSON.stringify(document);
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? "");
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of new Set(refs)) {
      const target = ref
        .slice(2)
        .split("/")
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
      expect(ref).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(target, ref).toBeTypeOf("object");
    }
    expect(text).not.toContain("$id");
  });

  it("gives every operation a name of its own, and says what it takes and answers", () => {
    const operations = Object.entries(document["paths"] as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, parameters, responses } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const said = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
      if (said.length > 0) expect(said).toEqual(inPath);
      expect(responses).toHaveProperty("default");
    }
    const execute = operations.find(({ operationId }) => operationId === "executePlan");
    expect(execute).toMatchObject({
      path: "/sessions/{id}/execute-plan",
      parameters: [
        { in: "path", name: "id" },
        { in: "query", name: "view" },
        { in: "header", name: "Prefer" },
        { in: "header", name: "Idempotency-Key" },
      ],
      requestBody: { content: { "application/json": { schema: { properties: { planId: { type: "string" } } } } } },
      responses: {
        200: { content: { "application/json": { schema: { $ref: "#/components/schemas/SessionView" } } } },
        202: { content: { "application/json": { schema: { $ref: "#/components/schemas/CoreAnswer" } } } },
      },
    });
  });
});

type Operation = {
  readonly operationId: string;
  readonly parameters: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
};
