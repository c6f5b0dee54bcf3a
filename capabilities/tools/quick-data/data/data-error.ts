import { ErgonError, type ErrorOptions } from "@ergon/core";

export type DataErrorCode =
  | "path_refused"
  | "file_not_found"
  | "file_changed"
  | "file_too_large"
  | "format_unknown"
  | "dataset_unreadable"
  | "dataset_too_wide"
  | "dataset_not_found"
  | "column_not_found"
  | "column_unfit"
  | "query_failed";

export function dataError(code: DataErrorCode, message: string, options?: ErrorOptions): ErgonError<DataErrorCode> {
  return new ErgonError(code, message, options);
}
