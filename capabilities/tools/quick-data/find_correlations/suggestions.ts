import type { Column } from "../data/columns.ts";

/** What can be done with a dataset in which there is nothing to correlate. */
export function suggestionsFor(columns: readonly Column[]): string[] {
  const first = (role: Column["role"]): string | undefined => columns.find((column) => column.role === role)?.name;
  const [category, number, time] = [first("categorical"), first("numerical"), first("temporal")];
  return [
    ...(category !== undefined && number !== undefined
      ? [`Compare ${number} between the groups of ${category}: quick-data::segment_by_column with by "${category}".`]
      : []),
    ...(category !== undefined
      ? [`See how often each value occurs: quick-data::analyze_distributions, for instance of ${category}.`]
      : []),
    ...(time !== undefined ? [`Count rows over time: quick-data::time_series_analysis by ${time}.`] : []),
    "See what is missing, doubled or odd: quick-data::validate_data_quality.",
    "If numbers were read as text, clean the file (units, thousands separators) and load it again.",
  ];
}
