/*
 * Waits on this machine for a browser that comes back from an authorization server. Only this machine can reach it, it
 * answers one address, and it is there for one login.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hubError } from "@ergon/core/hub";
import { nodeHttp } from "../../node-http.ts";

export type RedirectListener = {
  readonly redirectUrl: string;
  /** Resolves when a browser comes back; rejects when that takes too long, or is no longer wanted. */
  readonly came: (signal: AbortSignal) => Promise<URLSearchParams>;
  readonly close: () => void;
};

const CALLBACK_PATH = "/callback";
const HOST = "127.0.0.1";
/** Nobody is still on their way after this. */
const LOGIN_PATIENCE_MS = 15 * 60_000;

export type ListenerOptions = {
  /** Taken when it is free, else another unless it is required. */
  readonly port?: number;
  readonly isRequired?: boolean;
  readonly patienceMs?: number;
};

export async function openRedirectListener(options: ListenerOptions = {}): Promise<RedirectListener> {
  const { port = 0, isRequired = false, patienceMs = LOGIN_PATIENCE_MS } = options;
  const arrived = Promise.withResolvers<URLSearchParams>();
  const server = nodeHttp().createServer((request, response) => {
    const url = new URL(request.url ?? "/", `http://${HOST}`);
    const isIt = request.method === "GET" && url.pathname === CALLBACK_PATH && url.searchParams.has("state");
    const page = isIt ? "Ergon has what it needs. You can close this page." : "There is nothing here.";
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" };
    response.writeHead(isIt ? 200 : 404, headers).end(`${page}\n`);
    if (isIt) arrived.resolve(url.searchParams);
  });
  await listen(server, port).catch((thrown: unknown) => {
    if (isRequired || port === 0) throw portTaken(port, thrown);
    return listen(server, 0);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    redirectUrl: `http://${HOST}:${String(taken)}${CALLBACK_PATH}`,
    came: (signal) => {
      const late = AbortSignal.timeout(patienceMs);
      const over = AbortSignal.any([late, signal]);
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(late.aborted ? tooLate(patienceMs) : asError(over.reason));
        if (over.aborted) return giveUp();
        over.addEventListener("abort", giveUp, { once: true });
        void arrived.promise.then((found) => {
          over.removeEventListener("abort", giveUp);
          resolve(found);
        });
      });
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, "listening");
}

function portTaken(port: number, cause: unknown): Error {
  const message = `Port ${String(port)} on this machine, where the login is to come back to, is taken.`;
  return hubError("login_failed", message, { cause });
}

function tooLate(patienceMs: number): Error {
  const minutes = Math.round(patienceMs / 60_000);
  return hubError("login_failed", `Nobody came back from the login within ${String(minutes)} minutes.`);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The login was given up.");
}
