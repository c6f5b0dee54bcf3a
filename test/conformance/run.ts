// npm run conformance: the official MCP conformance suite against Ergon's HTTP endpoint, every revision that it serves.
import { REVISIONS, runSuite } from "./suite.ts";

for (const revision of REVISIONS) {
  const { passed, required, failed, report } = await runSuite(revision);
  console.log(failed.length === 0 ? "" : report);
  console.log(`${revision}: ${String(passed)} of ${String(required)} required scenarios pass`);
  if (passed < required) process.exitCode = 1;
}
