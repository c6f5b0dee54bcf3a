import { connect, type Socket } from "node:net";

/** One request, ready to be written; all of them keep their connection. */
export type LoadRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Load = { readonly perSecond: number; readonly latenciesMs: readonly number[] };

/** Asks over so many connections at once, each of them as fast as it is answered, until the time is over. */
export async function load(
  url: string,
  connections: number,
  ms: number,
  next: () => LoadRequest | undefined,
): Promise<Load> {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const untilMs = startedMs + ms;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await openConnection(url);
      for (let request = next(); request !== undefined && performance.now() < untilMs; request = next()) {
        const askedMs = performance.now();
        const status = await connection.ask(request);
        if (status >= 400) throw new Error(`${request.method} ${request.path} answered ${String(status)}`);
        latenciesMs.push(performance.now() - askedMs);
      }
      connection.socket.destroy();
    }),
  );
  return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - startedMs), latenciesMs };
}

type Connection = { readonly socket: Socket; readonly ask: (request: LoadRequest) => Promise<number> };

/** By hand: the client must not be what is measured. */
async function openConnection(url: string): Promise<Connection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  await new Promise<void>((done) => socket.once("connect", done));
  let waiting: ((status: number) => void) | undefined;
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    received += String(chunk);
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    if (!isWhole(received, end + 4)) return;
    const status = Number(received.slice(9, 12));
    received = "";
    waiting?.(status);
  });
  return {
    socket,
    ask: ({ method, path, headers, body = "" }) => {
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting = resolve;
      const lines = Object.entries({ host, "content-length": String(body.length), ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
      return promise;
    },
  };
}

function isWhole(received: string, bodyAt: number): boolean {
  const head = received.slice(0, bodyAt);
  if (/transfer-encoding: chunked/i.test(head)) return received.endsWith("\r\n0\r\n\r\n");
  return received.length >= bodyAt + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
