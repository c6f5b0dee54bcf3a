const FEATURES = ["goal", "steps", "owner", "date", "risk", "test", "cost", "rollback"];

export const definition = {
  id: "refine::produce",
  description: "Drafts a plan for a topic, with as many features of a good plan as it is told to.",
  parameters: {
    type: "object",
    properties: { topic: { type: "string" }, features: { type: "integer", minimum: 0 } },
    required: ["topic", "features"],
  },
};

export const implementation = async ({ topic, features }: { topic: string; features: number }) => ({
  draft: [`A plan for ${topic}.`, ...FEATURES.slice(0, features).map((feature) => `${feature}: said.`)].join("\n"),
});
