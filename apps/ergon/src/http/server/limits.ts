import type { Clock } from "@ergon/core";
import { accessError } from "@ergon/core/schema";
import type { Principal } from "@ergon/node";

/** How much one principal may ask for. Processes of the same user on the same folder are not counted. */
export type RequestLimits = {
  readonly perSecond: number;
  /** What may come at once after a silence. */
  readonly burst: number;
  /** How many times that the holder of the first token may ask, whose machine it is. */
  readonly adminFactor: number;
  readonly atOnce: number;
  readonly streams: number;
  /** Wrong tokens per second from one address, and at once. */
  readonly strangersPerSecond: number;
  readonly strangersBurst: number;
};

export const REQUEST_LIMITS: RequestLimits = {
  perSecond: 1_000,
  burst: 2_000,
  adminFactor: 20,
  atOnce: 512,
  streams: 2_000,
  strangersPerSecond: 100,
  strangersBurst: 1_000,
};

/** Addresses whose mistakes are remembered; the one that was silent longest is forgotten first. */
export const MAX_REMEMBERED_STRANGERS = 10_000;

export type Limiter = {
  /** Throws `rate_limited` or `too_many_requests`; returns what to call when the request has been answered. */
  readonly enter: (principal: Principal) => () => void;
  readonly enterStream: (principal: Principal) => () => void;
  /** Counts a wrong token; throws `rate_limited` when there were too many from that address. */
  readonly failedAuth: (address: string) => void;
};

type Bucket = { level: number; atMs: number };
type Account = { readonly bucket: Bucket; requests: number; streams: number };

export function createLimiter(clock: Clock, limits: RequestLimits = REQUEST_LIMITS): Limiter {
  const accounts = new Map<string, Account>();
  const strangers = new Map<string, Bucket>();
  const free = (): void => undefined;

  const factorOf = ({ admin }: Principal): number => (admin ? limits.adminFactor : 1);
  const accountOf = (principal: Principal): Account => {
    const { name } = principal;
    let account = accounts.get(name);
    if (account === undefined) {
      const level = limits.burst * factorOf(principal);
      account = { bucket: { level, atMs: clock.monotonic() }, requests: 0, streams: 0 };
      accounts.set(name, account);
    }
    return account;
  };

  const draw = (bucket: Bucket, perSecond: number, burst: number): void => {
    const now = clock.monotonic();
    const level = Math.min(burst, bucket.level + ((now - bucket.atMs) * perSecond) / 1_000);
    bucket.atMs = now;
    bucket.level = level < 1 ? level : level - 1;
    if (level >= 1) return;
    const retryAfterSeconds = (1 - level) / perSecond;
    throw accessError("rate_limited", `Too many requests; at most ${perSecond} a second are answered.`, {
      retryable: true,
      details: { retryAfterSeconds },
    });
  };

  return {
    enter: (principal) => {
      if (principal.local) return free;
      const account = accountOf(principal);
      const factor = factorOf(principal);
      draw(account.bucket, limits.perSecond * factor, limits.burst * factor);
      if (account.requests >= limits.atOnce) throw crowded(`${limits.atOnce} requests are under way already`);
      account.requests += 1;
      return () => {
        account.requests -= 1;
      };
    },
    enterStream: (principal) => {
      if (principal.local) return free;
      const account = accountOf(principal);
      if (account.streams >= limits.streams) throw crowded(`${limits.streams} event streams are open already`);
      account.streams += 1;
      return () => {
        account.streams -= 1;
      };
    },
    failedAuth: (address) => {
      const bucket = strangers.get(address) ?? { level: limits.strangersBurst, atMs: clock.monotonic() };
      strangers.delete(address);
      const [oldest] = strangers.keys();
      if (oldest !== undefined && strangers.size >= MAX_REMEMBERED_STRANGERS) strangers.delete(oldest);
      strangers.set(address, bucket);
      draw(bucket, limits.strangersPerSecond, limits.strangersBurst);
    },
  };
}

function crowded(why: string): Error {
  return accessError("too_many_requests", `${why}; wait for one of them to end.`, {
    retryable: true,
    details: { retryAfterSeconds: 1 },
  });
}
