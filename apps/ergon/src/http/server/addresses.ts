import type { AddressInfo, Server } from "node:net";

const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["[::]", "[::1]"],
]);

/** Where a server listens, as it is written in a URL; `isOne` when that is one address and not all of the machine. */
export function listeningAt(server: Server): { readonly host: string; readonly url: string; readonly isOne: boolean } {
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return { host, url: `http://${host}:${String(port)}`, isOne: !EVERYWHERE.has(host) };
}

/** How processes on this machine ask a server that listens at this address. */
export function reachableHere(url: string): string {
  const address = new URL(url);
  address.hostname = EVERYWHERE.get(address.hostname) ?? address.hostname;
  return address.origin;
}
