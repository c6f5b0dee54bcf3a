import { type KeyedRequest, MAX_REQUEST_KEYS, type RequestKey, type RequestKeyStore } from "@ergon/core/engine";
import { openSmallStore, type StorePlace } from "./small-store.ts";

/** So many old keys are removed with each new one. */
const REMOVED_AT_ONCE = 10;

/** Keys of requests, in the file of what the requests start: no loss of power takes a key and leaves its start. */
export function openSqliteRequestKeys(place: StorePlace): RequestKeyStore {
  const { all, run, acting, close } = openSmallStore(place, { what: "store of request keys" });
  const find = ({ owner, key }: RequestKey): KeyedRequest | undefined => {
    const [row] = all<KeyColumns>(
      "SELECT fingerprint, start_id AS startId, answer FROM request_keys WHERE owner = ? AND key = ?",
      owner,
      key,
    );
    if (row === undefined) return undefined;
    const { answer, ...request } = row;
    return answer === null ? request : { ...request, answer };
  };

  return {
    begin: ({ owner, key, fingerprint, startId, at, since }) =>
      acting("keeping a request's key", () => {
        run("DELETE FROM request_keys WHERE owner = ? AND key = ? AND at < ?", owner, key, since);
        const known = find({ owner, key });
        if (known !== undefined) return known;
        const [newest] = all<{ readonly position: number | null }>(NEWEST, owner);
        const position = (newest?.position ?? 0) + 1;
        run(ADD, owner, key, position, at, fingerprint, startId);
        run("DELETE FROM request_keys WHERE owner = ? AND position <= ? + 0", owner, position - MAX_REQUEST_KEYS);
        run(REMOVE_OLD, since, REMOVED_AT_ONCE);
        return { fingerprint, startId };
      }),
    finish: ({ owner, key }, answer) =>
      acting("keeping the answer to a request", () =>
        run("UPDATE request_keys SET answer = ? WHERE owner = ? AND key = ?", answer, owner, key),
      ),
    forget: ({ owner, key }) =>
      acting("forgetting a request's key", () =>
        run("DELETE FROM request_keys WHERE owner = ? AND key = ?", owner, key),
      ),
    close,
  };
}

const NEWEST = "SELECT max(position) AS position FROM request_keys WHERE owner = ?";
const ADD = "INSERT INTO request_keys (owner, key, position, at, fingerprint, start_id) VALUES (?, ?, ?, ?, ?, ?)";
const REMOVE_OLD = `DELETE FROM request_keys
  WHERE n IN (SELECT n FROM request_keys WHERE at < ? ORDER BY at LIMIT ? + 0)`;

type KeyColumns = { readonly fingerprint: string; readonly startId: string; readonly answer: string | null };
