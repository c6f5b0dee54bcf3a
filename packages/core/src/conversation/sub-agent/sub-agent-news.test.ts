import { describe, expect, it } from "vitest";
import type { SubAgentMessage } from "../../schema/hub.ts";
import { createSubAgentNews, MAX_LISTENERS, NEWS_KEPT } from "./sub-agent-news.ts";

const message = (owner: string, requestId: string, type: SubAgentMessage["type"] = "completion"): SubAgentMessage => ({
  type,
  requestId,
  owner,
  data: { of: requestId },
});

describe("news of the sub-agent", () => {
  it("are for whoever asked, newest first, and do not say whose they are", () => {
    const news = createSubAgentNews();
    news.add([message("ada", "a1"), message("bob", "b1"), message("ada", "a2", "error")]);
    expect(news.of("ada")).toEqual([
      { type: "error", requestId: "a2", data: { of: "a2" } },
      { type: "completion", requestId: "a1", data: { of: "a1" } },
    ]);
    expect(news.of("bob")).toEqual([{ type: "completion", requestId: "b1", data: { of: "b1" } }]);
    expect(news.of("eve")).toEqual([]);
  });

  it("keep only the latest of how far a request is", () => {
    const news = createSubAgentNews();
    news.add([message("ada", "a1", "status_update"), message("ada", "a1", "status_update")]);
    expect(news.of("ada")).toHaveLength(1);
    news.add([message("ada", "a1"), message("ada", "a1", "tool_available")]);
    expect(news.of("ada")).toMatchObject([{ type: "tool_available" }, { type: "completion" }]);
  });

  it("are bounded for each principal, and nobody's push out another's", () => {
    const news = createSubAgentNews();
    news.add([message("bob", "b1")]);
    news.add(Array.from({ length: NEWS_KEPT + 1 }, (_, n) => message("ada", String(n))));
    expect(news.of("ada")).toHaveLength(NEWS_KEPT);
    expect(news.of("ada")[0]).toMatchObject({ requestId: String(NEWS_KEPT) });
    expect(news.of("bob")).toHaveLength(1);
    news.add(Array.from({ length: MAX_LISTENERS - 1 }, (_, n) => message(`p${String(n)}`, "x")));
    expect({ ada: news.of("ada").length, bob: news.of("bob").length }).toEqual({ ada: NEWS_KEPT, bob: 0 });
  });
});
