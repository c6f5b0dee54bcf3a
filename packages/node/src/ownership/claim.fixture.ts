// Claims the folder named by its argument, says what came of it, and lives until it is ended or told to release.
import { claimFolder } from "./claim-folder.ts";

const [path = "", stateFolder = "", url] = process.argv.slice(2);
const claim = await claimFolder({ path, stateFolder, isNamed: true });
if (claim.kind === "owner") await claim.setUrl(url);
process.stdout.write(`${JSON.stringify(claim)}\n`);
if (claim.kind === "owner") {
  process.stdin.once("data", () => void claim.release().then(() => process.exit(0)));
} else {
  process.exit(0);
}
