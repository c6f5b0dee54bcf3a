import { z } from "zod";
import type { Column } from "../data/columns.ts";
import type { Database } from "../data/database.ts";
import { numberOf } from "../data/open-dataset.ts";

/** So many columns are correlated with each other at most: the work grows with their square. */
export const MAX_CORRELATED = 60;
const PAIRS_PER_QUERY = 500;

const Strength = z.enum(["strong", "moderate", "weak"]);

export const Pair = z.object({
  x: z.string(),
  y: z.string(),
  /** Null where one of them does not vary. */
  r: z.number().nullable(),
  /** Rows that have both. */
  n: z.int(),
  strength: Strength,
  /** 95%, by Fisher's transformation. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
});
export type Pair = z.infer<typeof Pair>;

export type Method = "pearson" | "spearman";

/** Every pair of these columns once, in their order. */
export async function correlate(database: Database, columns: readonly Column[], method: Method): Promise<Pair[]> {
  const pairs = columns.flatMap((x, at) => columns.slice(at + 1).map((y): [Column, Column] => [x, y]));
  const found: Pair[] = [];
  if (method === "spearman") {
    for (const [x, y] of pairs) found.push(await rankCorrelation(database, x, y));
    return found;
  }
  for (let from = 0; from < pairs.length; from += PAIRS_PER_QUERY) {
    found.push(...(await pearson(database, columns, pairs.slice(from, from + PAIRS_PER_QUERY))));
  }
  return found;
}

async function pearson(
  database: Database,
  columns: readonly Column[],
  pairs: readonly (readonly [Column, Column])[],
): Promise<Pair[]> {
  const alias = new Map(columns.map((column, at) => [column, `c${String(at)}`]));
  const numbers = columns.map((column) => `${numberOf(column)} AS ${alias.get(column) ?? ""}`);
  const asked = pairs.flatMap(([x, y], at) => {
    const both = `${alias.get(y) ?? ""}, ${alias.get(x) ?? ""}`;
    return [`corr(${both}) AS r${String(at)}`, `regr_count(${both}) AS n${String(at)}`];
  });
  const row = await database.row(`SELECT ${asked.join(", ")} FROM (SELECT ${numbers.join(", ")} FROM data)`);
  return pairs.map(([x, y], at) => pairOf(x.name, y.name, row[`r${String(at)}`], row[`n${String(at)}`]));
}

/** Equal values share the mean of their ranks. */
async function rankCorrelation(database: Database, x: Column, y: Column): Promise<Pair> {
  const ranked = (name: string): string =>
    `rank() OVER (ORDER BY ${name}) + (count(*) OVER (PARTITION BY ${name}) - 1) / 2.0 AS rank_${name}`;
  const row = await database.row(
    `SELECT corr(rank_y, rank_x) AS r, count(*) AS n FROM (
       SELECT ${ranked("x")}, ${ranked("y")} FROM (SELECT ${numberOf(x)} AS x, ${numberOf(y)} AS y FROM data)
       WHERE x IS NOT NULL AND y IS NOT NULL)`,
  );
  return pairOf(x.name, y.name, row["r"], row["n"]);
}

function pairOf(x: string, y: string, found: unknown, count: unknown): Pair {
  const r = typeof found === "number" && Number.isFinite(found) ? Math.max(-1, Math.min(1, found)) : null;
  const n = Number(count ?? 0);
  return { x, y, r, n, strength: strengthOf(r), interval: intervalOf(r, n) };
}

function strengthOf(r: number | null): z.infer<typeof Strength> {
  const size = Math.abs(r ?? 0);
  return size > 0.7 ? "strong" : size > 0.3 ? "moderate" : "weak";
}

const Z_95 = 1.959963984540054;

function intervalOf(r: number | null, n: number): [number, number] | null {
  if (r === null || n < 4) return null;
  if (Math.abs(r) === 1) return [r, r];
  const z = Math.atanh(r);
  const half = Z_95 / Math.sqrt(n - 3);
  return [Math.tanh(z - half), Math.tanh(z + half)];
}
