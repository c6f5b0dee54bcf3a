import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { typedCommand } from "./typed-command.ts";

it("is npx ergon unless the shell finds ergon by itself", () => {
  const folder = mkdtempSync(join(tmpdir(), "ergon-path-"));
  try {
    expect(typedCommand({})).toBe("npx ergon");
    expect(typedCommand({ PATH: folder })).toBe("npx ergon");
    writeFileSync(join(folder, "ergon"), "");
    expect(typedCommand({ PATH: folder })).toBe("ergon");
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "ergon"), "");
    expect(typedCommand({ PATH: bin })).toBe("npx ergon");
    expect(typedCommand({ PATH: folder, npm_command: "exec" })).toBe("npx ergon");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
