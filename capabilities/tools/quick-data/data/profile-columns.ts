import { type Column, type ColumnType, roleOf } from "./columns.ts";
import type { Database } from "./database.ts";
import { nameOf } from "./sql.ts";

/** So many columns are asked about at once. */
const BATCH = 50;
/** Up to this many an estimate of different values is as good as exact, and cheap to make exact. */
const NEARLY_ALL = 0.9;

type TypedColumn = { readonly name: string; readonly type: ColumnType };

/** Counts what is missing and what differs, and gives each column of the view `data` its role. */
export async function profileColumns(
  database: Database,
  columns: readonly TypedColumn[],
  rowCount: number,
): Promise<Column[]> {
  const profiled: Column[] = [];
  for (let from = 0; from < columns.length; from += BATCH) {
    profiled.push(...(await profileBatch(database, columns.slice(from, from + BATCH), rowCount)));
  }
  return profiled;
}

async function profileBatch(database: Database, columns: readonly TypedColumn[], rowCount: number): Promise<Column[]> {
  const counts = columns.flatMap(({ name }, at) => [
    `count(${nameOf(name)}) AS present_${String(at)}`,
    `approx_count_distinct(${nameOf(name)}) AS distinct_${String(at)}`,
  ]);
  const counted = await database.row(`SELECT ${counts.join(", ")} FROM data`);
  const facts = columns.map((column, at) => {
    const present = Number(counted[`present_${String(at)}`]);
    return { ...column, present, estimate: Math.min(present, Number(counted[`distinct_${String(at)}`])) };
  });
  const exact = await countExactly(database, facts);
  return facts.map(({ name, type, present, estimate }) => {
    const known = exact.get(name);
    const distinct = known?.distinct ?? estimate;
    const isUnique = known !== undefined && known.distinct === present;
    const isRunning = known?.span === present;
    const role = roleOf({ name, type, present, distinct, isUnique, isRunning, min: known?.min ?? 0 });
    return { name, type, role, missing: rowCount - present, distinct };
  });
}

type Facts = TypedColumn & { readonly present: number; readonly estimate: number };

/** Only where the role hangs on it: whole numbers and texts that may have no value twice, and small counts. */
async function countExactly(
  database: Database,
  facts: readonly Facts[],
): Promise<ReadonlyMap<string, { readonly distinct: number; readonly span: number; readonly min: number }>> {
  const asked = facts.filter(({ type, present, estimate }) => {
    const mayBeUnique = (type === "integer" || type === "text") && estimate >= present * NEARLY_ALL;
    return present > 0 && (mayBeUnique || estimate <= EXACT_UP_TO);
  });
  if (asked.length === 0) return new Map();
  const counts = asked.flatMap(({ name, type }, at) => [
    `count(DISTINCT ${nameOf(name)}) AS distinct_${String(at)}`,
    type === "integer"
      ? `CAST(max(${nameOf(name)}) AS DOUBLE) - CAST(min(${nameOf(name)}) AS DOUBLE) + 1 AS span_${String(at)}`
      : `NULL AS span_${String(at)}`,
    `${type === "integer" ? `CAST(min(${nameOf(name)}) AS DOUBLE)` : "NULL"} AS min_${String(at)}`,
  ]);
  const row = await database.row(`SELECT ${counts.join(", ")} FROM data`);
  return new Map(
    asked.map(({ name }, at) => [
      name,
      {
        distinct: Number(row[`distinct_${String(at)}`]),
        span: Number(row[`span_${String(at)}`]),
        min: Number(row[`min_${String(at)}`]),
      },
    ]),
  );
}

const EXACT_UP_TO = 1_000;
