import { describe, expect, it } from "vitest";
import { callStep, planOf } from "../../../testing/engine/engine-world.ts";
import { createMortalStore, type Fate } from "../../../testing/plans/mortal-store.ts";
import { createSupervisedWorld, type SupervisedWorld } from "../../../testing/supervisor/supervised-world.ts";
import type { SessionView } from "../../ports/engine.ts";
import type { CorrectionMode } from "./supervisor.ts";

const SESSION = "ses_0";
/** More commits than the plan below takes with all of its corrections; a run without an end shows as that. */
const MAX_COMMITS = 200;

// Arguments to repair, a call to repeat that may take effect only once, a step to skip.
const plan = planOf("p", [
  callStep("count", "test::count", { n: { jsonPath: "$.promptInput.n" } }, "mail"),
  callStep("mail", "test::mail", {}, "extra"),
  { ...callStep("extra", "test::once"), optional: true } as never,
]);

describe("a supervisor whose process dies", () => {
  it.each<[CorrectionMode, Fate]>([
    ["auto", "lost"],
    ["auto", "written-and-dead"],
    ["ask", "lost"],
    ["ask", "written-and-dead"],
  ])("(%s, commits are %s) has every correction applied once all the same", { timeout: 60_000 }, async (mode, fate) => {
    let deaths = 0;
    for (; deaths < MAX_COMMITS; deaths++) {
      if (!(await liveTwice(mode, fate, deaths))) break;
    }
    expect(deaths).toBeGreaterThan(20);
    expect(deaths).toBeLessThan(MAX_COMMITS);
  });

  it("and dies again and again, around every commit, comes to the same", { timeout: 120_000 }, async () => {
    const world = createSupervisedWorld({ supervises: false });
    prepare(world);
    let view: SessionView | undefined;
    for (let life = 0; life < 2 * MAX_COMMITS && view === undefined; life++) {
      // Some commits of each life are written, and then nobody is left; every other life loses one more.
      const { through, death } = dieAt(1 + (life % 4), life % 2 === 0 ? "lost" : "written-and-dead");
      const living = world.restart({ through });
      view = await Promise.race([see(living, "auto"), death]);
    }
    if (view === undefined) throw new Error("It never came to an end.");
    await expectWhole(world, view, "many deaths");
    await world.close();
  });
});

/** False when the first life ended without meeting its death. */
async function liveTwice(mode: CorrectionMode, fate: Fate, at: number): Promise<boolean> {
  const when = `death at commit ${String(at)}`;
  const { through, death } = dieAt(at, fate);
  const first = createSupervisedWorld({ mode, through });
  prepare(first);
  const early = await Promise.race([see(first, mode), death]);
  if (early !== undefined) {
    await expectWhole(first, early, when);
    return Promise.race([first.close().then(() => false), death.then(() => true)]);
  }
  const second = first.restart({ mode });
  await expectWhole(second, await see(second, mode), when);
  await second.close();
  return true;
}

function prepare(world: SupervisedWorld): void {
  world.fails("test::mail", 1);
  world.fails("test::once", Infinity);
}

function dieAt(at: number, fate: Fate) {
  const { promise: death, resolve: die } = Promise.withResolvers<undefined>();
  let commits = 0;
  const fateOf = (): Fate => {
    if (commits++ !== at) return "written";
    // Whatever was under way at that moment ends where it is.
    setTimeout(() => die(undefined), 0);
    return fate;
  };
  return { death, through: (store: SupervisedWorld["store"]) => createMortalStore(store, fateOf) };
}

/** What a person would do: start it, accept what is proposed, and look for themselves where nobody knows. */
async function see(world: SupervisedWorld, mode: CorrectionMode): Promise<SessionView> {
  const session = { owner: world.owner, sessionId: SESSION };
  void world.engine.recover();
  const known = await world.store.readSession(SESSION);
  if (known === undefined) await world.engine.executePlan({ ...session, plan, input: { n: "5" }, create: true });
  for (;;) {
    const view = await world.settled(SESSION);
    const [wait] = view.core.waiting;
    if (wait === undefined) {
      await correctionsEnded(world, view);
      return view;
    }
    if (wait.error?.code === "outcome_unknown") {
      const isMail = wait.stepId === "mail";
      const input = isMail && world.sent() > 0 ? { happened: "sent" } : { action: isMail ? "retry" : "skip" };
      await world.engine.resume({ ...session, step: wait.path, input });
    } else {
      expect(mode, JSON.stringify(view.core)).toBe("ask");
      await world.engine.resume({ ...session, step: wait.path, input: { action: "accept" } });
    }
  }
}

async function correctionsEnded(world: SupervisedWorld, { corrections = [] }: SessionView): Promise<void> {
  for (const { correctionId } of corrections)
    await world.engine.settled({ owner: world.owner, sessionId: correctionId });
}

async function expectWhole(world: SupervisedWorld, view: SessionView, when: string): Promise<void> {
  expect(view.core.status, when).toBe("completed");
  expect(world.sent(), when).toBe(1);
  const { corrections = [] } = view;
  expect(new Set(corrections.map(({ path }) => path)).size, when).toBe(corrections.length);
  expect(
    corrections.find(({ path }) => path === "count"),
    when,
  ).toMatchObject({ state: "applied" });
  const events = await world.store.readEvents({ afterSeq: 0, sessionId: SESSION, limit: 1_000 });
  const told = (type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => data["correctionId"] as string);
  expect(told("correction-applied").sort(), when).toEqual(
    corrections
      .filter(({ state }) => state === "applied")
      .map(({ correctionId }) => correctionId)
      .sort(),
  );
  expect(told("correction-proposed").sort(), when).toEqual(corrections.map(({ correctionId }) => correctionId).sort());
  for (const { correctionId } of corrections) {
    const record = await world.store.readSession(correctionId);
    expect(record?.core.status, `${when}: ${correctionId}`).toBe("completed");
  }
}
