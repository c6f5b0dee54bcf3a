import { isErgonError } from "@ergon/core";
import { type FolderInspection, type FolderPlace, inspectFolder, judgeFolder } from "@ergon/node";

export const DATABASE_NAME = "state.db";

/** Apart from what opens a folder: most commands that only look have no use for it. */
export async function inspectData(place: FolderPlace): Promise<FolderInspection & { readonly folder: string }> {
  const folder = place.path;
  try {
    judgeFolder(place);
  } catch (thrown) {
    // Nothing in it is opened.
    if (isErgonError(thrown) && thrown.code === "folder_untrusted")
      return { folder, state: "free", problem: thrown.message };
    throw thrown;
  }
  return { folder, ...(await inspectFolder(folder, DATABASE_NAME)) };
}
