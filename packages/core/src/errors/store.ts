import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

export type StoreErrorCode =
  | "session_not_found"
  | "session_exists"
  | "session_conflict"
  | "run_conflict"
  | "run_expired"
  | "commit_invalid"
  | "store_newer"
  | "store_corrupt"
  | "store_unavailable"
  | "store_closed"
  | "folder_owned"
  | "folder_absent"
  | "folder_untrusted"
  | "ownership_lost"
  | "owner_gone"
  | "blob_not_found"
  | "blob_corrupt"
  | "blob_too_large";

export function storeError(code: StoreErrorCode, message: string, options?: ErrorOptions): ErgonError<StoreErrorCode> {
  return new ErgonError(code, message, options);
}
