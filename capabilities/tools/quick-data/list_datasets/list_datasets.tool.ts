import { z } from "zod";
import { dataTool } from "../data/data-tool.ts";
import { Dataset } from "../data/dataset.ts";
import { datasetsIn } from "../data/open-dataset.ts";
import { SourceState, sourceState } from "../data/source-state.ts";

export const { definition, implementation } = dataTool({
  name: "list_datasets",
  title: "List datasets",
  description: "Lists the datasets that this session has loaded, and whether their files have changed since.",
  args: z.strictObject({}),
  output: z.object({
    datasets: z.array(
      z.object({
        datasetName: z.string(),
        rowCount: z.int(),
        columns: z.array(z.string()),
        data: Dataset.shape.data,
        path: z.string(),
        sourceState: SourceState,
      }),
    ),
  }),
  effects: "read",
  run: async (_args, run) => {
    const datasets = [...(await datasetsIn(run)).values()].map(async (dataset) => ({
      datasetName: dataset.datasetName,
      rowCount: dataset.rowCount,
      columns: dataset.columns.map(({ name }) => name),
      data: dataset.data,
      path: dataset.source.path,
      sourceState: await sourceState(run, dataset.source),
    }));
    return { datasets: await Promise.all(datasets) };
  },
});
