import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

it("keeps V8's second compiler away, and lets it back in", { timeout: 60_000 }, () => {
  const fixture = join(import.meta.dirname, "baseline-wasm.fixture.ts");
  const out = execFileSync(process.execPath, ["--allow-natives-syntax", fixture], { encoding: "utf8" });
  expect(JSON.parse(out)).toEqual({ within: false, after: true });
});
