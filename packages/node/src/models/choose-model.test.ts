import { describe, expect, it } from "vitest";
import { chooseModel } from "./choose-model.ts";

const none = {
  model: undefined,
  modelUrl: undefined,
  openaiKey: undefined,
  anthropicKey: undefined,
  googleKey: undefined,
  mistralKey: undefined,
  groqKey: undefined,
  xaiKey: undefined,
};

describe("the model of the settings", () => {
  it.each([
    ["nothing is set", {}, { kind: "offline" }],
    ["offline is asked for, whatever keys there are", { model: "offline", openaiKey: "k" }, { kind: "offline" }],
    ["there is only OpenAI's key", { openaiKey: "k" }, { kind: "model", service: { id: "openai/gpt-4o", key: "k" } }],
    [
      "a provider is named",
      { model: "anthropic/claude-x", anthropicKey: "k" },
      { kind: "model", service: { speaks: "anthropic", model: "claude-x", key: "k" } },
    ],
    [
      "a model's name has slashes",
      { model: "groq/org/m", groqKey: "k" },
      {
        kind: "model",
        service: { speaks: "openai-compatible", model: "org/m", url: "https://api.groq.com/openai/v1" },
      },
    ],
    [
      "an address is given",
      { model: "local/m", modelUrl: "http://127.0.0.1:1/v1" },
      { kind: "model", service: { speaks: "openai-compatible", url: "http://127.0.0.1:1/v1" } },
    ],
    [
      "an address has no model",
      { modelUrl: "http://127.0.0.1:1/v1" },
      { kind: "broken", problem: expect.stringContaining("ERGON_MODEL") as string },
    ],
    [
      "a key is missing",
      { model: "google/g" },
      { kind: "broken", problem: expect.stringContaining("GOOGLE_GENERATIVE_AI_API_KEY") as string },
    ],
    [
      "a provider is mistyped",
      { model: "antropic/c" },
      { kind: "broken", problem: expect.stringContaining('Did you mean "anthropic"?') as string },
    ],
  ])("when %s", (_, given, choice) => {
    expect(chooseModel({ ...none, ...given })).toMatchObject(choice);
  });
});
