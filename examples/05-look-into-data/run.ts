// From a file of data to a page with pictures, offline: a plan of the quick-data pack correlates, asks which finding to
// test, tests it with Python in the sandbox, and writes a report. The answers are known: the sample was made with them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const launcher = join(import.meta.dirname, "../../apps/ergon/bin/ergon.js");
const folder = mkdtempSync(join(tmpdir(), "ergon-example-"));

try {
  const asked = ergon("run", "correlation_investigation", "--input", `{"filePath": "shop_orders.csv"}`);
  assert.equal(asked.status, 3, asked.stderr);
  const [, session = ""] = /^session (ses_\w+)$/m.exec(asked.stdout) ?? [];
  assert.match(asked.stdout, /1\. delivery_days and satisfaction move in opposite directions/);
  assert.match(asked.stdout, /2\. discount_percent and order_value_eur rise together/);
  console.log(asked.stdout);

  // The second is the one to doubt: over all orders both rise, within every channel it is the other way round.
  const done = ergon("resume", session, "--input", `{"finding": 2}`);
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /within every channel they go the other way/);
  console.log(done.stdout);

  const [, id = ""] = /blobs get ([0-9a-f]{64})/.exec(done.stdout) ?? [];
  const file = join(folder, "report.html");
  assert.equal(ergon("blobs", "get", id, "-o", file).status, 0);
  const report = readFileSync(file, "utf8");
  assert.equal(report.match(/<img src="data:image\/svg\+xml;base64,/g)?.length, 3);
  assert.match(report, /It is not chance, but it turns round once the differences between the groups of channel/);
  console.log(`The report has ${String(report.length)} characters, three pictures, and needs no network.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function ergon(...args: string[]) {
  return spawnSync(process.execPath, [launcher, ...args, "--data", join(folder, "data")], {
    cwd: folder,
    encoding: "utf8",
  });
}
