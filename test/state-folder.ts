import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Tests never touch what Ergon keeps for the person who runs them. Every process of the run inherits this. */
export default function ownStateFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "ergon-state-"));
  process.env["XDG_STATE_HOME"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
