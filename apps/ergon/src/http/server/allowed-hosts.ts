import type { IncomingMessage } from "node:http";
import { accessError } from "@ergon/core/schema";
import { httpError } from "./problem.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export type HostCheck = {
  /** Throws `host_denied` or `origin_denied`. */
  readonly check: (headers: { readonly host?: string | undefined; readonly origin?: string | undefined }) => void;
  /** An address that we listen on: whoever asks by it has reached us, and no other name. */
  readonly addAddress: (address: string) => void;
};

/**
 * Refuses requests that reached us under a foreign name (DNS rebinding) or from a foreign page. An entry is a host
 * with or without a port; `*.example.com` stands for every name below example.com, `*` for all.
 */
export function createHostCheck(allowedHosts: readonly string[]): HostCheck {
  const entries = [...LOOPBACK, ...allowedHosts].map((entry) => entry.toLowerCase());
  const named = allowedHosts.map((entry) => entry.toLowerCase());
  // The same few come again and again; strangers must not fill the memory.
  const known = new Map<string, boolean>();
  const isKnown = (host: string): boolean => {
    const kept = known.get(host);
    if (kept !== undefined) return kept;
    const fits = matches(host, entries);
    if (known.size >= MAX_KNOWN_HOSTS) known.clear();
    known.set(host, fits);
    return fits;
  };
  const check: HostCheck["check"] = ({ host, origin }) => {
    const asked = host?.toLowerCase();
    if (asked === undefined || !isKnown(asked)) {
      const hint = "Ask by a name of this machine, or add the name to ERGON_ALLOWED_HOSTS.";
      throw accessError("host_denied", `Requests for host "${cut(host ?? "")}" are not answered here. ${hint}`);
    }
    if (origin === undefined) return;
    const from = hostOfOrigin(origin);
    if (from !== undefined && (from === asked || matches(from, named))) return;
    throw accessError("origin_denied", `Pages of "${cut(origin)}" may not ask here.`);
  };
  const addAddress = (address: string): void => {
    entries.push(address.toLowerCase());
    known.clear();
  };
  return { check, addAddress };
}

/**
 * Throws `bad_request` when a request names more than one host: in two headers, or in its target and its header. Only
 * one of them is checked, and a proxy before us may have taken the other.
 */
export function checkOneHost({ rawHeaders, headers, url = "/" }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  const isOther = !url.startsWith("/") && hostOf(url) !== headers.host?.toLowerCase();
  if (hosts > 1 || isOther) throw httpError("bad_request", "The request names more than one host; name one.");
}

/** Of a target that is a whole address; undefined for any other. */
function hostOf(target: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]?.toLowerCase();
}

const MAX_KNOWN_HOSTS = 1_000;
const MAX_SHOWN = 100;

function matches(host: string, entries: readonly string[]): boolean {
  const bare = withoutPort(host);
  if (bare === undefined) return false;
  return entries.some((entry) => {
    if (entry === "*") return true;
    if (entry.startsWith("*.")) return bare.endsWith(entry.slice(1)) && bare.length > entry.length - 1;
    return entry === host || entry === bare;
  });
}

/** The name without its port, or undefined when it is no host at all. */
function withoutPort(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(host)?.[1];
}

function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/?#\s@]+)$/i.exec(origin)?.[1]?.toLowerCase();
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
