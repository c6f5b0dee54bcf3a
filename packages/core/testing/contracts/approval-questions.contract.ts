import { describe, expect, it } from "vitest";
import type { ApprovalQuestions, CallInQuestion } from "../../src/ports/approval-questions.ts";

export type OpenedApprovalQuestions = {
  readonly desk: ApprovalQuestions;
  /** As a person would. */
  readonly answer: (id: string, approved: boolean) => Promise<unknown>;
};

/** What every ApprovalQuestions must do for the engine. `open` gives one without questions. */
export function approvalQuestionsContract(name: string, open: () => Promise<OpenedApprovalQuestions>): void {
  describe(`the approval desk contract: ${name}`, () => {
    it("asks about a call once, however often it is told to, and knows the answer then (D1)", async () => {
      const { desk, answer } = await open();
      const asked = await desk.ask(call());
      expect(asked).toMatchObject({ owner: "ada", tool: "files_write", state: "pending", sessionId: "s", step: "a" });
      expect((await desk.ask(call({ reason: "asked again" }))).id).toBe(asked.id);
      await answer(asked.id, true);
      expect(await desk.ask(call())).toMatchObject({ id: asked.id, state: "approved" });
      expect(await desk.read(asked.id)).toMatchObject({ state: "approved" });
      expect(await desk.read("apr_0")).toBeUndefined();
    });

    it.each([
      ["another visit", { key: "s:2" }],
      ["another tool", { toolId: "files_read" }],
      ["other arguments", { argsHash: "i" }],
      ["a changed tool", { boundTo: "g" }],
      ["another principal", { owner: "eve" }],
    ] as const)("takes %s for another question (D2)", async (_, other) => {
      const { desk, answer } = await open();
      const first = await desk.ask(call());
      await answer(first.id, true);
      const second = await desk.ask(call(other));
      expect(second.id).not.toBe(first.id);
      expect(second.state).toBe("pending");
    });

    it("ends what nobody waits for, and leaves what was answered", async () => {
      const { desk, answer } = await open();
      const [first, second] = [await desk.ask(call()), await desk.ask(call({ key: "s:2" }))];
      await answer(first.id, false);
      await desk.withdraw([first.id, second.id]);
      expect(await desk.read(first.id)).toMatchObject({ state: "denied" });
      expect(await desk.read(second.id)).toMatchObject({ state: "withdrawn" });
    });
  });
}

function call(other: Partial<CallInQuestion> = {}): CallInQuestion {
  return {
    owner: "ada",
    key: "s:1",
    toolId: "files_write",
    args: { path: "/tmp/x" },
    argsHash: "h",
    estimatedUnits: 1,
    reason: "because",
    boundTo: "f",
    sessionId: "s",
    step: "a",
    ...other,
  };
}
