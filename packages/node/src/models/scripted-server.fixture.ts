// A model service that follows a script and speaks OpenAI's HTTP format: what tests and benches put in a model's place.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createScript, type ScriptedReply } from "@ergon/core/testing";

export type ScriptedServer = {
  /** For ERGON_MODEL_URL. */
  readonly url: string;
  readonly asked: () => number;
  /** The requests' bodies, oldest first. */
  readonly requests: readonly ScriptedRequest[];
  readonly close: () => Promise<void>;
};

export type ScriptedRequest = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly atMs: number;
  readonly body: {
    readonly model?: string;
    readonly messages?: readonly { readonly role: string; readonly content: string }[];
    readonly response_format?: { readonly type: string };
    readonly input?: string | readonly string[];
  };
};

export async function startScriptedServer(
  replies: readonly (ScriptedReply | string | ((request: ScriptedRequest) => string))[],
): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = [];
  const script = createScript(
    replies.map((reply) =>
      typeof reply === "object" ? reply : { kind: "text", text: typeof reply === "string" ? reply : "" },
    ),
  );
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked: ScriptedRequest = {
      path: request.url ?? "",
      authorization: request.headers.authorization,
      atMs: performance.now(),
      body: JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as ScriptedRequest["body"],
    };
    requests.push(asked);
    if (asked.path.endsWith("/embeddings")) return embed(asked, response);
    const written = replies[Math.min(script.asked(), replies.length - 1)];
    const reply = script.next();
    await answer(typeof written === "function" ? { kind: "text", text: written(asked) } : reply, asked, response);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/v1`,
    asked: script.asked,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(reply: ScriptedReply, { body }: ScriptedRequest, response: ServerResponse): Promise<void> {
  switch (reply.kind) {
    case "text":
      if (reply.delayMs !== undefined) await sleep(reply.delayMs);
      return send(response, 200, completion(body.model, reply.text, reply.outputTokens ?? 7, reply.truncated));
    case "nothing":
      return send(response, 200, completion(body.model, "", 0));
    case "status": {
      if (reply.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(reply.retryAfterSeconds));
      return send(response, reply.status, { error: { message: `scripted ${String(reply.status)}`, type: "scripted" } });
    }
    case "silence":
      return;
    case "endless": {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"choices":[{"message":{"content":"');
      const part = "on and on ".repeat(10_000);
      while (!response.destroyed) {
        if (!response.write(part))
          await Promise.race([new Promise((resolve) => response.once("drain", resolve)), sleep(1_000)]);
      }
    }
  }
}

function completion(model = "scripted", content: string, outputTokens: number, truncated = false): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: truncated ? "length" : "stop" }],
    usage: { prompt_tokens: 11, completion_tokens: outputTokens, total_tokens: 11 + outputTokens },
  };
}

/** Letters counted: enough for a vector that differs from text to text. */
function embed({ body }: ScriptedRequest, response: ServerResponse): void {
  const texts = typeof body.input === "string" ? [body.input] : (body.input ?? []);
  const data = texts.map((text, index) => {
    const embedding = Array.from(
      { length: 26 },
      (_, at) => text.toLowerCase().split(String.fromCharCode(97 + at)).length - 1,
    );
    return {
      object: "embedding",
      index,
      embedding: embedding.some((count) => count > 0) ? embedding : [1, ...embedding.slice(1)],
    };
  });
  send(response, 200, { object: "list", model: body.model, data, usage: { prompt_tokens: 1, total_tokens: 1 } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
