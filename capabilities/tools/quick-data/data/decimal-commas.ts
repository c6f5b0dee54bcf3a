import type { Database } from "./database.ts";
import { nameOf, textOf } from "./sql.ts";

/** A column is looked at closely when its first rows may be such numbers. */
const SAMPLE_ROWS = 1_000;
/** Whole numbers and numbers with a decimal comma, with or without points between thousands. */
const NUMBER = "[+-]?(\\d+|\\d{1,3}(\\.\\d{3})+)(,\\d+)?";
/** With three digits behind it the comma may stand between thousands. */
const SURE = "[+-]?[\\d.]+,(\\d{1,2}|\\d{4,})";

/**
 * The text columns of a reader whose values are all numbers with decimal commas. Where every comma of the file may as well
 * stand between thousands, there is none: a guess would be wrong by a factor of a thousand.
 */
export async function decimalCommas(
  database: Database,
  reader: string,
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  const sampled = await commasIn(database, `(SELECT * FROM ${reader} LIMIT ${String(SAMPLE_ROWS)})`, texts);
  const candidates = [...sampled.keys()];
  const found = candidates.length === 0 ? sampled : await commasIn(database, reader, candidates);
  return new Set([...found.values()].includes(true) ? found.keys() : []);
}

/** A column's text as a number. */
export function decimalOf(name: string): string {
  return `CAST(replace(replace(trim(${nameOf(name)}), '.', ''), ',', '.') AS DOUBLE)`;
}

/** The columns that are such numbers throughout, and whether one of their commas can be nothing but a decimal one. */
async function commasIn(
  database: Database,
  source: string,
  texts: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  if (texts.length === 0) return new Map();
  const counts = texts.flatMap((name, at) => {
    const value = `trim(${nameOf(name)})`;
    const matching = (pattern: string) => `count(*) FILTER (regexp_full_match(${value}, ${textOf(pattern)}))`;
    return [
      `count(${nameOf(name)}) AS present_${String(at)}`,
      `${matching(NUMBER)} AS numbers_${String(at)}`,
      `count(*) FILTER (contains(${value}, ',')) AS commas_${String(at)}`,
      `${matching(SURE)} AS sure_${String(at)}`,
    ];
  });
  const row = await database.row(`SELECT ${counts.join(", ")} FROM ${source}`);
  const of = (what: string, at: number): number => Number(row[`${what}_${String(at)}`]);
  return new Map(
    texts.flatMap((name, at) =>
      of("present", at) === of("numbers", at) && of("commas", at) > 0 ? [[name, of("sure", at) > 0] as const] : [],
    ),
  );
}
