import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "@ergon/node";
import { createClient } from "@supabase/supabase-js";
import { prepareSupabase } from "../../capabilities/tools/talent/shared/prepared-supabase.fixture.ts";

const schema = join(import.meta.dirname, "../../supabase");

/** A Supabase project at an address of its own, as programs elsewhere see one: the embedded database behind HTTP. */
export type SupabaseProject = {
  readonly url: string;
  readonly keys: EmbeddedDatabase["keys"];
  readonly query: EmbeddedDatabase["query"];
  readonly signUp: (name: string) => Promise<{ readonly id: string; readonly token: string }>;
  readonly close: () => Promise<void>;
};

export async function startSupabaseProject(): Promise<SupabaseProject> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-project-"));
  await prepareSupabase(folder);
  const database = await openEmbeddedDatabase({ folder, schema });
  const server = createServer((request, response) => {
    void forwarded(request)
      .then((asked) => database.fetch(asked))
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(Buffer.from(await answer.arrayBuffer()));
      })
      .catch(() => response.destroy());
  });
  // Whoever embeds between two requests may take longer than the usual five seconds.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  return {
    url,
    keys: database.keys,
    query: database.query,
    signUp: async (name) => {
      const client = createClient(url, database.keys.publishable, { auth: { persistSession: false } });
      const { data, error } = await client.auth.signUp({
        email: `${name}@port-elden.example`,
        password: "a long enough password",
      });
      if (error !== null || data.user === null || data.session === null) throw error ?? new Error("No session.");
      return { id: data.user.id, token: data.session.access_token };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function forwarded(request: IncomingMessage): Promise<Request> {
  const { method = "GET", url = "/", headers } = request;
  const body = await buffer(request);
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === "connection" ? [] : [[name, String(value)]],
  );
  return new Request(new URL(url, "http://project.invalid"), {
    method,
    headers: pairs,
    ...(body.byteLength === 0 ? {} : { body }),
  });
}
