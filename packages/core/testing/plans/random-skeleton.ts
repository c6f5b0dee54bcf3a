import * as fc from "fast-check";

/** The bones of a list of steps. `seed` decides all that is not structure; `id` names the first step it becomes. */
export type Bone =
  | { readonly kind: "tool" | "human" | "exit"; readonly seed: number; readonly id: string }
  | {
      readonly kind: "fork";
      readonly seed: number;
      readonly id: string;
      readonly onTrue: Bone[];
      readonly onFalse: Bone[];
    }
  | { readonly kind: "parallel"; readonly seed: number; readonly id: string; readonly branches: Bone[][] }
  | { readonly kind: "loop"; readonly seed: number; readonly id: string; readonly body: Bone[] }
  | { readonly kind: "cycle"; readonly seed: number; readonly id: string; readonly body: Bone[] };

/** Lists of at most about `maxSteps` steps, branches and loops at most `maxDepth` deep. */
export function arbitrarySkeleton(maxDepth: number, maxSteps: number): fc.Arbitrary<Bone[]> {
  return bones(maxDepth, 8).map((list) => trim(list, { steps: maxSteps, nextId: 1 }));
}

function bones(depth: number, maxLength: number): fc.Arbitrary<Bone[]> {
  const seed = fc.nat();
  const leaf = (kind: "tool" | "human" | "exit"): fc.Arbitrary<Bone> =>
    seed.map((each) => ({ kind, seed: each, id: "" }));
  const leaves = [
    { weight: 18, arbitrary: leaf("tool") },
    { weight: 5, arbitrary: leaf("human") },
    { weight: 1, arbitrary: leaf("exit") },
  ];
  if (depth === 0)
    return fc.array(fc.oneof({ withCrossShrink: true }, ...leaves), { minLength: 1, maxLength: 2, size: "max" });
  const nested = bones(depth - 1, 3);
  const arms = bones(0, 2);
  const id = fc.constant("");
  const bone: fc.Arbitrary<Bone> = fc.oneof(
    { withCrossShrink: true },
    ...leaves,
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("fork"), seed, id, onTrue: fc.oneof(arms, nested), onFalse: arms }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("cycle"), seed, id, body: arms }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant("parallel"),
        seed,
        id,
        branches: fc.array(nested, { minLength: 1, maxLength: 3, size: "max" }),
      }),
    },
    { weight: 16, arbitrary: fc.record({ kind: fc.constant("loop"), seed, id, body: nested }) },
  );
  return fc.array(bone, { minLength: 1, maxLength, size: "max" });
}

type Budget = { steps: number; nextId: number };

/** What a nested list may take of what is left, so that the steps after it get their share. */
const NESTED_SHARE = 0.65;

/** Cuts to the budget and gives ids. A list keeps at least one step, so the budget may be passed by a few. */
function trim(list: Bone[], budget: Budget): Bone[] {
  const kept: Bone[] = [];
  for (const bone of list) {
    if (kept.length > 0 && budget.steps <= 0) break;
    const plain: Bone = { kind: "tool", seed: bone.seed, id: "" };
    kept.push(trimBone(budget.steps <= 0 ? plain : bone, budget));
  }
  return kept;
}

function trimBone(bone: Bone, budget: Budget): Bone {
  budget.steps -= bone.kind === "cycle" ? 2 : 1;
  const id = `${bone.kind}-${String(budget.nextId)}`;
  budget.nextId += 1;
  switch (bone.kind) {
    case "tool":
    case "human":
    case "exit":
      return { ...bone, id };
    case "fork":
      return { ...bone, id, onTrue: trimArm(bone, "onTrue", budget), onFalse: trimArm(bone, "onFalse", budget) };
    case "parallel":
      return { ...bone, id, branches: bone.branches.map((each) => trimNested(each, budget)) };
    case "loop":
    case "cycle":
      return { ...bone, id, body: trimNested(bone.body, budget) };
  }
}

function trimNested(list: Bone[], budget: Budget): Bone[] {
  const share: Budget = { steps: Math.floor(budget.steps * NESTED_SHARE), nextId: budget.nextId };
  const before = share.steps;
  const kept = trim(list, share);
  budget.steps -= before - share.steps;
  budget.nextId = share.nextId;
  return kept;
}

/** Either arm of a fork may be empty: it goes straight on. */
function trimArm(bone: Bone & { kind: "fork" }, arm: "onTrue" | "onFalse", budget: Budget): Bone[] {
  const empty = budget.steps <= 0 || bone.seed % 3 === (arm === "onTrue" ? 1 : 2);
  return empty ? [] : trimNested(bone[arm], budget);
}
