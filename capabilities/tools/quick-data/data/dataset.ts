import { BlobRef } from "@ergon/core";
import { z } from "zod";
import { Column } from "./columns.ts";
import { MAX_NAME_LENGTH } from "./data-format.ts";

export const PARQUET = "application/vnd.apache.parquet";

export const DatasetName = z.string().min(1).max(MAX_NAME_LENGTH);

/** Where a dataset came from, and what that was at the time. */
export const DatasetSource = z.object({
  path: z.string(),
  format: z.enum(["csv", "json", "parquet"]),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
  modifiedAt: z.string(),
  /** What the text was written in, where that was not UTF-8. */
  encoding: z.string().optional(),
  /** Columns whose numbers have a comma before their decimals. */
  decimalCommas: z.array(z.string()).optional(),
});
export type DatasetSource = z.infer<typeof DatasetSource>;

/**
 * A dataset as steps hand it on: what it is called, what is in it, and a reference to the data. The data is a blob of
 * Parquet, so a session that is taken up or forked later sees the same rows, whatever became of the file.
 */
export const Dataset = z.object({
  datasetName: DatasetName,
  columns: z.array(Column),
  rowCount: z.int().nonnegative(),
  data: BlobRef,
  source: DatasetSource,
});
export type Dataset = z.infer<typeof Dataset>;
