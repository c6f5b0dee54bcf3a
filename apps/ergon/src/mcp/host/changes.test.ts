import { describe, expect, it } from "vitest";
import { createMcpChanges, type McpChange } from "./changes.ts";

describe("changes", () => {
  it("reach whoever listens, until they stop", () => {
    const changes = createMcpChanges();
    const heard: McpChange[] = [];
    const stop = changes.listen((change) => heard.push(change));
    changes.announce({ kind: "list", list: "tools" });
    stop();
    changes.announce({ kind: "list", list: "prompts" });
    expect(heard).toEqual([{ kind: "list", list: "tools" }]);
  });

  it("of resources are looked after from the first interest to the last, and no longer", () => {
    const story: string[] = [];
    const changes = createMcpChanges((announce) => {
      story.push("begin");
      announce("ada", "ergon://loops/1");
      return { stop: () => story.push("end"), begun: Promise.resolve() };
    });
    const heard: McpChange[] = [];
    changes.listen((change) => heard.push(change));
    const [first, second] = [changes.interest(), changes.interest()];
    first();
    first();
    expect(story).toEqual(["begin"]);
    second();
    expect(story).toEqual(["begin", "end"]);
    changes.interest()();
    expect(story).toEqual(["begin", "end", "begin", "end"]);
    expect(heard[0]).toEqual({ kind: "resource", owner: "ada", uri: "ergon://loops/1" });
  });
});
