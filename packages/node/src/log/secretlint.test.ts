import { redactSecrets } from "@ergon/core/schema";
import { SECRET_SAMPLES } from "@ergon/core/testing";
import { lintSource } from "@secretlint/core";
import { creator as recommended, rules } from "@secretlint/secretlint-rule-preset-recommend";
import { describe, expect, it } from "vitest";

const RECOMMENDED = { id: "@secretlint/secretlint-rule-preset-recommend", rule: recommended };

describe("beside secretlint's recommended rules", () => {
  it.each(SECRET_SAMPLES)("nothing is found after redaction: $issuer, $text", async ({ text }) => {
    expect(await found(redactSecrets(text))).toEqual([]);
  });

  it("every rule finds a sample before, but for those that look at whole files or decode what they find", async () => {
    const known = rules.map(({ meta }) => shortName(meta.id));
    const finding = new Set((await Promise.all(SECRET_SAMPLES.map(({ text }) => found(text)))).flat());
    expect(known.filter((name) => !finding.has(name)).sort()).toEqual(["1password", "filter-comments", "gcp"]);
  });
});

/** The rules that have something to say. */
async function found(content: string): Promise<readonly string[]> {
  const source = { filePath: "/canary.txt", content, contentType: "text" as const };
  const { messages } = await lintSource({ source, options: { config: { rules: [RECOMMENDED] } } });
  return messages.map(({ ruleId }) => shortName(ruleId));
}

function shortName(ruleId: string): string {
  return ruleId.replace("@secretlint/secretlint-rule-", "");
}
