import type * as Vega from "vega";
import type * as VegaLite from "vega-lite";

export type { DuckDBConnection, DuckDBType, DuckDBValue } from "@duckdb/node-api";

// Loaded one by one: few tools need all of them.
export const loadDuckDb = () => import("@duckdb/node-api");
export const loadVega = (): Promise<typeof Vega> => import("vega");
export const loadVegaLite = (): Promise<typeof VegaLite> => import("vega-lite");
