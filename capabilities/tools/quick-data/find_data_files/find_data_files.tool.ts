import { z } from "zod";
import { dataTool } from "../data/data-tool.ts";
import { scanRoots } from "../data/scan-roots.ts";

export const { definition, implementation } = dataTool({
  name: "find_data_files",
  title: "Find data files",
  description: "Looks through the folders that may be read for csv, json and parquet files, largest first.",
  args: z.strictObject({
    limit: z.int().min(1).max(500).default(50).describe("How many files to list at most"),
  }),
  output: z.object({
    roots: z.array(z.string()),
    files: z.array(
      z.object({
        filePath: z.string(),
        format: z.enum(["csv", "json", "parquet"]),
        bytes: z.int(),
        size: z.string(),
        modifiedAt: z.string(),
        suggestedName: z.string(),
      }),
    ),
    found: z.int(),
    /** The search ended at its bound: there may be more. */
    isCut: z.boolean(),
    listing: z.string(),
  }),
  effects: "read",
  run: async ({ limit }, run) => {
    const { files, isCut } = await scanRoots(run);
    const shown = files.slice(0, limit);
    const listing = shown.map(({ filePath, size, suggestedName }) => `- ${filePath} (${size}) as ${suggestedName}`);
    return { roots: [...run.dataRoots], files: shown, found: files.length, isCut, listing: listing.join("\n") };
  },
});
