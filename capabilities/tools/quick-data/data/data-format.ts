import { basename, extname } from "node:path";

export type DataFormat = "csv" | "json" | "parquet";

const FORMATS: Readonly<Record<string, DataFormat>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".json": "json",
  ".jsonl": "json",
  ".ndjson": "json",
  ".parquet": "parquet",
};

export const EXTENSIONS = Object.keys(FORMATS);

export function formatOf(path: string): DataFormat | undefined {
  return FORMATS[extname(path).toLowerCase()];
}

/** A name that people can type: `Shop Orders (2).csv` becomes `shop_orders_2`. */
export function suggestedName(path: string): string {
  const name = basename(path, extname(path))
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_")
    .replaceAll(/^_+|_+$/g, "");
  return name === "" ? "data" : name.slice(0, MAX_NAME_LENGTH);
}

export const MAX_NAME_LENGTH = 100;
