/** Longer waits are shortened: clients and proxies give up on silent connections. */
export const MAX_WAIT_MS = 120_000;

/** `Prefer: wait=SECONDS` (RFC 7240) in milliseconds; undefined where it is absent or cannot be read. */
export function preferredWaitMs(prefer: string | readonly string[] | undefined): number | undefined {
  if (prefer === undefined) return undefined;
  const text = typeof prefer === "string" ? prefer : prefer.join(",");
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9}(?:\.\d{1,3})?)"?\s*(?:$|[,;])/i.exec(text) ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, MAX_WAIT_MS);
}
