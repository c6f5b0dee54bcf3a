// A server that says everything it knows wherever it can: on stderr, in what it is called, in results, progress and errors.
import { createServer, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: string | number } };
};

const secrets = JSON.stringify({ argv: process.argv.slice(2), env: process.env });

if (process.argv.includes("--http")) {
  const server = createServer((request, response) => {
    const isAsked = request.method === "POST";
    void (isAsked ? answerRequest(request) : Promise.resolve(undefined)).then((said) => {
      const status = said === undefined ? 202 : 200;
      response.writeHead(isAsked ? status : 405, { "content-type": "application/json" }).end(said);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
} else {
  process.stderr.write(`started with ${secrets}\n${Object.values(process.env).join("\n")}\n`);
  if (process.argv.includes("--fails")) process.exit(3);
  createInterface({ input: process.stdin }).on("line", (line) => {
    for (const said of replies(JSON.parse(line) as Message, secrets)) process.stdout.write(`${JSON.stringify(said)}\n`);
  });
}

async function answerRequest(request: IncomingMessage): Promise<string | undefined> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const said = replies(JSON.parse(text) as Message, JSON.stringify(request.headers)).at(-1);
  return said === undefined ? undefined : JSON.stringify(said);
}

function replies({ id, method, params }: Message, known: string): object[] {
  if (id === undefined) return [];
  const result = (value: object) => [{ jsonrpc: "2.0", id, result: value }];
  const refusal = (message: string) => [{ jsonrpc: "2.0", id, error: { code: -32_000, message } }];
  const text = (said: string) => ({ content: [{ type: "text", text: said }] });
  switch (method) {
    case "initialize":
      return result({
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "leaky", version: "1.0.0" },
      });
    case "ping":
      return result({});
    case "tools/list":
      return result({
        tools: ["tell", "shape", "fail", "refuse", "crash"].map((name) => ({
          name,
          description: `${name} ${known}`,
          inputSchema: { type: "object", properties: { x: { type: "string", description: known } } },
        })),
      });
    case "tools/call":
      switch (params?.name) {
        case "tell":
          return [
            {
              jsonrpc: "2.0",
              method: "notifications/progress",
              params: { progressToken: params._meta?.progressToken ?? 0, progress: 1, total: 2, message: known },
            },
            ...result(text(known)),
          ];
        case "shape":
          return result({ ...text(known), structuredContent: { deep: [{ known }] } });
        case "fail":
          return result({ ...text(known), isError: true });
        case "refuse":
          return refusal(known);
        default:
          process.stderr.write(`${known}\n`);
          process.exit(9);
      }
    default:
      return refusal(`no method; ${known}`);
  }
}
