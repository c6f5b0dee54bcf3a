const POINTS = 11;
const FEATURES = /^(goal|steps|owner|date|risk|test|cost|rollback): /gm;

export const definition = {
  id: "refine::judge",
  description: "Scores a draft from 0 to 100 by what a good plan has.",
  parameters: { type: "object", properties: { draft: { type: "string" } }, required: ["draft"] },
};

export const implementation = async ({ draft }: { draft: string }) => ({
  score: Math.min(100, (draft.match(FEATURES)?.length ?? 0) * POINTS),
});
