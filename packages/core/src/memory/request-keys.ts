import { type KeyedRequest, MAX_REQUEST_KEYS, type NewRequest, type RequestKeyStore } from "../ports/request-keys.ts";

/** Keys of requests that are forgotten at the end of the process. */
export function createMemoryRequestKeys(): RequestKeyStore {
  const byOwner = new Map<string, Map<string, KeyedRequest & Pick<NewRequest, "at">>>();
  return {
    begin: async ({ owner, key, fingerprint, startId, at, since }) => {
      const own = byOwner.get(owner) ?? new Map<string, KeyedRequest & Pick<NewRequest, "at">>();
      byOwner.set(owner, own);
      const isOld = ({ at: then }: Pick<NewRequest, "at">): boolean => then < since;
      for (const [old, request] of own) {
        if (!isOld(request)) break;
        own.delete(old);
      }
      const known = own.get(key);
      if (known !== undefined && !isOld(known)) return known;
      own.delete(key);
      const begun = { fingerprint, startId, at };
      own.set(key, begun);
      const oldest = own.size > MAX_REQUEST_KEYS ? own.keys().next() : undefined;
      if (oldest?.done === false) own.delete(oldest.value);
      return begun;
    },
    finish: async ({ owner, key }, answer) => {
      const own = byOwner.get(owner);
      const known = own?.get(key);
      if (known !== undefined) own?.set(key, { ...known, answer });
    },
    forget: async ({ owner, key }) => void byOwner.get(owner)?.delete(key),
    close: async () => undefined,
  };
}
