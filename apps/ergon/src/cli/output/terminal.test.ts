import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { printError } from "./print-error.ts";
import { startProgressLine } from "./progress-line.ts";
import { createTerminal } from "./terminal.ts";

describe("the terminal", () => {
  it("keeps answers and everything else apart", async () => {
    const { terminal, out, err } = open({ isTTY: false });
    terminal.print("answer");
    terminal.note("aside");
    terminal.printJson({ a: [1] });
    await terminal.flush();
    expect(out()).toBe('answer\n{"a":[1]}\n');
    expect(err()).toBe("aside\n");
    expect(terminal.columns).toBeUndefined();
    expect(terminal.colors.red("x")).toBe("x");
  });

  it("knows the width of a screen, and indents JSON there", () => {
    const { terminal, out } = open({ isTTY: true });
    expect(terminal.columns).toBe(40);
    terminal.printJson({ a: 1 });
    expect(out()).toBe('{\n  "a": 1\n}\n');
  });

  it("shows an error once, where it is looked for", () => {
    const human = open({ isTTY: false });
    printError(human.terminal, { code: "usage", message: "wrong\u001B[2J", details: { a: 1 } });
    expect([human.out(), human.err()]).toEqual(["", "error: wrong\\u001b[2J\n"]);
    const machine = open({ isTTY: false }, true);
    printError(machine.terminal, { code: "usage", message: "wrong", details: { a: 1 } });
    expect([machine.out(), machine.err()]).toEqual([
      '{"error":{"code":"usage","message":"wrong","details":{"a":1}}}\n',
      "",
    ]);
  });
});

describe("the progress line", () => {
  it("appears after a second, changes in place, and is gone at the end", async () => {
    const { terminal, out, err } = open({ isTTY: true });
    const progress = startProgressLine(terminal, "demo::sleep");
    progress.update({ fraction: 0.5, message: "half\nway \u001B[2J" });
    await sleep(500);
    expect(err()).toBe("");
    await sleep(700);
    progress.stop();
    const shown = err();
    expect(shown).toContain("demo::sleep 50 % (1 s) half way \\u");
    expect(shown.startsWith("\r\u001B[K")).toBe(true);
    expect(shown.endsWith("\r\u001B[K")).toBe(true);
    for (const line of shown.split("\r\u001B[K")) expect(line.length).toBeLessThan(40);
    expect(out()).toBe("");
  });

  it.each([
    ["where nobody sees it", false, false],
    ["for machines", true, true],
  ])("does not appear %s", async (_, isTTY, json) => {
    const { terminal, err } = open({ isTTY }, json);
    const progress = startProgressLine(terminal, "demo::sleep");
    await sleep(1_200);
    progress.stop();
    expect(err()).toBe("");
  });
});

function open({ isTTY }: { readonly isTTY: boolean }, json = false) {
  const [stdout, stderr] = [stream(isTTY), stream(isTTY)];
  const terminal = createTerminal({ stdout, stderr }, json);
  return { terminal, out: () => String(stdout.read() ?? ""), err: () => String(stderr.read() ?? "") };
}

/** What the terminal uses of a real one. */
function stream(isTTY: boolean): PassThrough & NodeJS.WriteStream {
  return Object.assign(new PassThrough(), { isTTY, columns: 40 }) as unknown as PassThrough & NodeJS.WriteStream;
}
