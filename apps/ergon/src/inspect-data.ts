import { type FolderInspection, inspectFolder } from "@ergon/node";

export const DATABASE_NAME = "state.db";

/** Apart from what opens a folder: most commands that only look have no use for it. */
export async function inspectData(folder: string): Promise<FolderInspection & { readonly folder: string }> {
  return { folder, ...(await inspectFolder(folder, DATABASE_NAME)) };
}
