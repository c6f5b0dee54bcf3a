import type { SubAgentMessage } from "@ergon/core/hub";
import { describe, expect, it } from "vitest";
import { createMessages, MAX_MESSAGES } from "./messages.ts";

const message = (type: SubAgentMessage["type"], requestId: string): SubAgentMessage => ({
  type,
  requestId,
  owner: "ada",
  data: null,
});

describe("messages that nobody fetches", () => {
  it("are bounded: updates go first, then the oldest", () => {
    const messages = createMessages();
    messages.add(message("completion", "first"));
    messages.add(message("status_update", "update"));
    for (let n = 0; n < MAX_MESSAGES - 1; n++) messages.add(message("error", String(n)));
    const kept = messages.take();
    expect(kept).toHaveLength(MAX_MESSAGES);
    expect(kept[0]?.requestId).toBe("first");
    expect(kept.some(({ type }) => type === "status_update")).toBe(false);
    for (let n = 0; n <= MAX_MESSAGES; n++) messages.add(message("error", String(n)));
    expect(messages.take()[0]?.requestId).toBe("1");
    expect(messages.take()).toEqual([]);
  });
});
