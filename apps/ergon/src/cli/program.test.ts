import { describe, expect, it } from "vitest";
import { runProgram } from "./program.ts";

async function help(...argv: string[]): Promise<string> {
  let written = "";
  const context = (): never => {
    throw new Error("No command runs here.");
  };
  await runProgram(argv, { version: "0", write: (text) => void (written += text), context });
  return written;
}

describe("the program", () => {
  it("shows all commands, the last as well as the first", async () => {
    const text = await help("--help");
    for (const name of ["tools", "ask", "run", "servers", "token", "trust", "doctor"]) expect(text).toMatch(name);
  });

  it("finds a command behind the program's own options, and takes no option's value for one", async () => {
    expect(await help("--json", "--data", "tools", "run", "--help")).toContain("Usage: ergon run");
    expect(await help("--data=tools", "doctor", "--help")).toContain("Usage: ergon doctor");
  });

  it("suggests a command that is declared late for a typing error", async () => {
    await expect(help("doctr")).rejects.toMatchObject({ message: expect.stringContaining("doctor") as unknown });
  });
});
