/*
 * What is asked on behalf of a login: addresses that a server names, and that server may be anybody's.
 *
 * A1  Outside the server's own origin, only https; http only on this machine, and only for a server on this machine.
 * A2  A server out in the world cannot have this machine's network asked: no private, local or link-local address.
 * A3  An answer has a bounded size and a bounded time, and redirects stay within their origin.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
import { hubError } from "@ergon/core/hub";
import { isLoopback } from "./web-address.ts";

export const MAX_ANSWER_BYTES = 1024 * 1024;
const ANSWER_TIMEOUT_MS = 30_000;

export type AuthorizationFetchDeps = {
  readonly serverUrl: string;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
};

export function authorizationFetch({ serverUrl, resolve = addressesOf }: AuthorizationFetchDeps): typeof fetch {
  const home = new URL(serverUrl);
  let homeIsPrivate: Promise<boolean> | undefined;

  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== home.origin) await checkElsewhere(url);
    const signal = AbortSignal.any([...(init?.signal ? [init.signal] : []), AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
    return bounded(await fetch(url, { ...init, redirect: "manual", signal }));
  };

  async function checkElsewhere(url: URL): Promise<void> {
    const refused = (why: string): Error =>
      hubError("address_refused", `${home.origin} names ${url.origin} for its logins: ${why}. It was not asked.`, {
        details: { server: home.origin, address: url.origin },
      });
    const isLocal = url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(home.hostname);
    if (url.protocol !== "https:" && !isLocal) throw refused("only https will do");
    homeIsPrivate ??= isPrivate(home.hostname);
    if (!(await homeIsPrivate) && (await isPrivate(url.hostname))) throw refused("that is inside a private network");
  }

  async function isPrivate(hostname: string): Promise<boolean> {
    const addresses = await resolve(hostname.replaceAll(/^\[|\]$/g, ""));
    return addresses.some((address) => PRIVATE.check(address, isIPv6(address) ? "ipv6" : "ipv4"));
  }
}

async function addressesOf(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Reserved for this machine, for its network, or for nobody. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
] as const) {
  PRIVATE.addSubnet(net, prefix, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");
PRIVATE.addAddress("::1", "ipv6");
PRIVATE.addAddress("::", "ipv6");

async function bounded(answer: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      await answer.body?.cancel().catch(() => undefined);
      const message = `${new URL(answer.url).origin} answered a login with more than ${String(MAX_ANSWER_BYTES)} bytes.`;
      throw hubError("login_failed", message);
    }
    chunks.push(chunk);
  }
  const { status, statusText, headers } = answer;
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers });
}
