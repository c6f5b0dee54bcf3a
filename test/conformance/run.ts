// npm run conformance: the official MCP conformance suite, every revision, against Ergon's HTTP endpoint and against the
// hub as a client.
import { REVISIONS, runSuite, SIDES } from "./suite.ts";

for (const side of SIDES) {
  for (const revision of REVISIONS) {
    const { passed, required, failed, report } = await runSuite(revision, side);
    console.log(failed.length === 0 ? "" : report);
    console.log(`${revision} ${side}: ${String(passed)} of ${String(required)} required scenarios pass`);
    if (passed < required) process.exitCode = 1;
  }
}
