import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";

/*
 * A client that knows nothing of Ergon but its OpenAPI document: operations are called by their name, and every answer
 * is held to the schema that the document gives for it.
 */

const Media = z.record(z.string(), z.unknown());
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(z.object({ in: z.enum(["path", "query", "header"]), name: z.string() })),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.object({ content: Media.optional() })),
});
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

type CallOptions = {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
};
type Called = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array;
};
export type ApiClient = {
  readonly operations: readonly string[];
  readonly call: (operationId: string, options?: CallOptions) => Promise<Called>;
};

export async function openApiClient(url: string, token: string): Promise<ApiClient> {
  const authorization = `Bearer ${token}`;
  const document = (await (
    await fetch(new URL("/openapi.json", url), { headers: { authorization } })
  ).json()) as object;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "openapi");
  const operations = operationsOf(document);

  return {
    operations: [...operations.keys()],
    call: async (operationId, { params = {}, body } = {}) => {
      const found = operations.get(operationId);
      if (found === undefined) throw new Error(`The document has no operation "${operationId}".`);
      const { path, method, operation } = found;
      const { address, headers } = place(path, operation.parameters, params);
      const response = await fetch(new URL(address, url), {
        method,
        headers: { authorization, ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
      const answer: unknown = type.endsWith("json") ? JSON.parse(new TextDecoder().decode(bytes)) : {};
      const status = String(response.status) in operation.responses ? String(response.status) : "default";
      const media = operation.responses[status]?.content ?? {};
      const declared = type in media ? type : "application/octet-stream";
      if (!(declared in media)) throw new Error(`${operationId} answered ${type}, which its document does not say.`);
      const pointer = ["paths", path, method.toLowerCase(), "responses", status, "content", declared, "schema"];
      if (type.endsWith("json") && declared === type) hold(pointer, answer, `${operationId} ${response.status}`);
      return { status: response.status, body: answer as Called["body"], bytes };
    },
  };

  function hold(pointer: readonly string[], answer: unknown, what: string): void {
    const ref = pointer.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    const validate = ajv.compile({ $ref: `openapi#/${encodeURI(ref)}` });
    if (!validate(answer))
      throw new Error(`${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(answer).slice(0, 500)}`);
  }
}

function operationsOf(document: object) {
  const { paths } = Document.parse(document);
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [operation.operationId, { path, method: method.toUpperCase(), operation }] as const,
      ),
    ),
  );
}

function place(
  path: string,
  parameters: z.infer<typeof Operation>["parameters"],
  given: NonNullable<CallOptions["params"]>,
) {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let address = path;
  for (const [name, value] of Object.entries(given)) {
    const parameter = parameters.find((known) => known.name === name);
    if (parameter === undefined) throw new Error(`The document has no parameter "${name}" for ${path}.`);
    if (parameter.in === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    if (parameter.in === "query") query.set(name, String(value));
    if (parameter.in === "header") headers[name] = String(value);
  }
  return { address: query.size === 0 ? address : `${address}?${query.toString()}`, headers };
}
