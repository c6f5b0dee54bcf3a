import { z } from "zod";
import { suggestedName } from "../data/data-format.ts";
import { dataTool } from "../data/data-tool.ts";
import { Dataset, DatasetName } from "../data/dataset.ts";
import { storeDataset } from "../data/store-dataset.ts";

export const { definition, implementation } = dataTool({
  name: "load_dataset",
  title: "Load a dataset",
  description:
    "Reads a csv, json or parquet file below the folders that may be read (ERGON_DATA_ROOTS) and keeps its rows as a blob. The first line of a csv names its columns. Says what role each column has: numerical, temporal, categorical or identifier.",
  args: z.strictObject({
    filePath: z.string().min(1).max(4_096).describe("The file: absolute, or below one of the folders"),
    datasetName: DatasetName.nullable()
      .optional()
      .describe("What to call it from now on; made from the file's name if absent"),
  }),
  output: Dataset,
  effects: "read",
  run: ({ filePath, datasetName }, run) => storeDataset(run, filePath, datasetName ?? suggestedName(filePath)),
});
