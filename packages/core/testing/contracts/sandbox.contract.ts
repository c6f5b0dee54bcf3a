import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/ports/sandbox.ts";
import { SANDBOX_LIMITS, type SandboxRequest } from "../../src/schema/sandbox.ts";

export type OpenedSandbox = {
  readonly sandbox: Sandbox;
  /** The languages that the profile has; both without it. */
  readonly languages?: readonly SandboxRequest["language"][];
  readonly profile?: NonNullable<SandboxRequest["profile"]>;
};

/** Starting a runtime takes long on a busy machine. */
const PATIENCE_MS = 120_000;

/** What every Sandbox must do, in every language of a profile. `open` gives one that runs at least one at a time. */
export function sandboxContract(name: string, open: () => Promise<OpenedSandbox>): void {
  describe(`the sandbox contract: ${name}`, { timeout: PATIENCE_MS }, () => {
    let opened: OpenedSandbox;
    beforeAll(async () => {
      opened = await open();
    }, PATIENCE_MS);
    afterAll(() => opened.sandbox.close());

    const each = async (
      samples: Readonly<Record<SandboxRequest["language"], string>>,
      more: Partial<SandboxRequest>,
    ) => {
      const { sandbox, profile, languages = ["python", "javascript"] } = opened;
      const asked = profile === undefined ? more : { profile, ...more };
      return Promise.all(languages.map((language) => sandbox.execute({ language, code: samples[language], ...asked })));
    };

    it("gives inputs to the code, and back what it comes to and what it wrote", async () => {
      const results = await each(
        {
          python: `import sys\nprint("out é")\nprint("err", file=sys.stderr)\n{"sum": sum(inputs["n"]), "same": inputs}`,
          javascript: `console.log("out é"); console.error("err"); return { sum: inputs.n[0] + inputs.n[1], same: inputs }`,
        },
        { inputs: { n: [1, 2.5], text: '\u0000\n"é𝄞', deep: [[[null, true]]] } },
      );
      for (const result of results) {
        expect(result).toMatchObject({ status: "success", stdout: "out é\n", stderr: "err\n", truncated: false });
        const same = { n: [1, 2.5], text: '\u0000\n"é𝄞', deep: [[[null, true]]] };
        expect(result.returnValue).toEqual({ sum: 3.5, same });
        expect(result.durationMs).toBeGreaterThan(0);
      }
    });

    it("knows no inputs as null, and nothing returned as null", async () => {
      const results = await each({ python: "assert inputs is None", javascript: "if (inputs !== null) throw 1" }, {});
      for (const result of results) expect(result).toMatchObject({ status: "success", returnValue: null });
    });

    it("says of code that fails where and why, and what it wrote until then", async () => {
      const results = await each(
        { python: `print("before")\n\n1 / 0`, javascript: `console.log("before");\n\nnull.nothing` },
        {},
      );
      for (const result of results) {
        expect(result).toMatchObject({ status: "error", stdout: "before\n" });
        expect(result).not.toHaveProperty("returnValue");
        expect(result.stderr).toMatch(/ZeroDivisionError|TypeError/);
        expect(result.stderr).toMatch(/line 3|code\.js:3/);
      }
    });

    it("says of code that cannot be read that it cannot", async () => {
      const results = await each({ python: "def (", javascript: "} return {" }, {});
      for (const result of results) {
        expect(result).toMatchObject({ status: "error" });
        expect(result.stderr).toContain("SyntaxError");
      }
    });

    it("refuses a value that JSON cannot hold, and one that could set a prototype", async () => {
      const odd = await each({ python: "{1, 2}", javascript: "return 5n" }, {});
      const named = `{"__proto__": {"admin": 1}}`;
      const results = [...odd, ...(await each({ python: named, javascript: `return JSON.parse('${named}')` }, {}))];
      for (const result of results) {
        expect(result).toMatchObject({ status: "error" });
        expect(result).not.toHaveProperty("returnValue");
      }
    });

    it("waits for what is asynchronous", async () => {
      const results = await each(
        {
          python: "import asyncio\nawait asyncio.sleep(0.01)\n[await asyncio.sleep(0, n) for n in range(2)]",
          javascript: "await new Promise((go) => setTimeout(go, 10)); return [0, 1]",
        },
        {},
      );
      for (const result of results) expect(result).toMatchObject({ status: "success", returnValue: [0, 1] });
    });

    it("kills code at its time limit, and shows what it wrote until then", async () => {
      const results = await each(
        { python: `print("begun", flush=True)\nwhile True: pass`, javascript: `console.log("begun"); for (;;) {}` },
        { timeoutMs: 1_500 },
      );
      for (const result of results) {
        expect(result).toMatchObject({ status: "timeout", stdout: "begun\n" });
        expect(result.durationMs).toBeGreaterThan(1_490);
      }
    });

    it("keeps output and value to their bound", async () => {
      const atBound = await each(
        { python: "print('x' * (inputs - 1))", javascript: "console.log('x'.repeat(inputs - 1))" },
        { inputs: SANDBOX_LIMITS.outputBytes },
      );
      for (const result of atBound) {
        expect(result).toMatchObject({ status: "success", truncated: false });
        expect(result.stdout.length).toBe(SANDBOX_LIMITS.outputBytes);
      }
      const over = await each(
        {
          python: "print('x' * inputs)\n'x' * inputs",
          javascript: "console.log('x'.repeat(inputs)); return 'x'.repeat(inputs)",
        },
        { inputs: SANDBOX_LIMITS.outputBytes },
      );
      for (const result of over) {
        expect(result).toMatchObject({ status: "error", truncated: true });
        expect(result.stdout.length).toBe(SANDBOX_LIMITS.outputBytes);
        expect(result.stderr).toContain("larger than");
      }
    });

    it("starts afresh each time", async () => {
      const leave = { python: "import math\nmath.pi = 3\nleft = 1", javascript: "globalThis.left = 1; Math.PI2 = 3" };
      const look = {
        python: "import math\n[math.pi > 3.1, 'left' in globals()]",
        javascript: "return [Math.PI2 === undefined, 'left' in globalThis]",
      };
      await each(leave, {});
      for (const result of await each(look, {})) expect(result.returnValue).toEqual([true, false]);
    });

    it("kills what its caller gave up", async () => {
      const { sandbox, languages: [language = "javascript"] = [], profile = "default" } = opened;
      const abort = new AbortController();
      const code = language === "python" ? "while True: pass" : "for (;;) {}";
      const endless = sandbox.execute({ language, code, profile }, { signal: abort.signal });
      setTimeout(() => abort.abort(), 200);
      await expect(endless).rejects.toMatchObject({ code: "cancelled" });
      await expect(
        sandbox.execute({ language, code: "1", profile }, { signal: AbortSignal.abort() }),
      ).rejects.toMatchObject({ code: "cancelled" });
    });

    it.each([
      ["a language that it does not have", { language: "ruby", code: "1" }],
      ["no code", { language: "python" }],
      ["too much code", { language: "python", code: " ".repeat(SANDBOX_LIMITS.codeChars + 1) }],
      ["inputs that are no JSON", { language: "python", code: "1", inputs: Number.NaN }],
      ["too many inputs", { language: "python", code: "1", inputs: "x".repeat(SANDBOX_LIMITS.inputChars) }],
      ["no time", { language: "python", code: "1", timeoutMs: 0 }],
      ["too much time", { language: "python", code: "1", timeoutMs: SANDBOX_LIMITS.timeoutMs.max + 1 }],
      ["too little memory", { language: "python", code: "1", memoryMb: SANDBOX_LIMITS.memoryMb.min - 1 }],
      ["too much memory", { language: "python", code: "1", memoryMb: SANDBOX_LIMITS.memoryMb.max + 1 }],
      ["a profile that nobody knows", { language: "python", code: "1", profile: "none" }],
    ])("refuses %s", async (_, request) => {
      await expect(opened.sandbox.execute(request as never)).rejects.toMatchObject({ code: "input_invalid" });
    });

    it("names every profile, and refuses what cannot be had", async () => {
      const profiles = await opened.sandbox.profiles();
      expect(profiles.map(({ name: known }) => known)).toEqual(["default", "hardened", "data"]);
      for (const { name: profile, available, languages, note } of profiles) {
        expect(note).not.toBe("");
        if (available) continue;
        const [language = "python"] = languages;
        await expect(opened.sandbox.execute({ language, code: "1", profile })).rejects.toMatchObject({
          code: "sandbox_profile_unavailable",
        });
      }
    });
  });
}
