import { describe, expect, it } from "vitest";
import type { OpenWorld } from "./engine-world.ts";
import { collect, isEnd } from "./events.ts";

export function isolationRules(open: OpenWorld): void {
  describe("what another made", () => {
    it("does not exist, whatever is done with it", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner: "ann" });
      await engine.executePlan({ owner: "ann", sessionId, plan: "ask" });
      const before = await engine.settled({ owner: "ann", sessionId });
      const foreign = { owner: "bob", sessionId };
      for (const attempt of [
        () => engine.readSession(foreign),
        () => engine.settled(foreign),
        () => engine.cancel(foreign),
        () => engine.resume({ ...foreign, input: { n: 1 } }),
        () => engine.executePlan({ ...foreign, plan: "echo" }),
        () => collect(engine, { ...foreign, afterSeq: 0 }, isEnd),
      ]) {
        await expect(attempt()).rejects.toMatchObject({ code: "session_not_found" });
      }
      expect(await engine.settled({ owner: "ann", sessionId })).toEqual(before);
    });

    it("is in no list and no stream", async () => {
      const { engine } = await open();
      const anns = await engine.createSession({ owner: "ann" });
      const bobs = await engine.createSession({ owner: "bob" });
      expect((await engine.listSessions({ owner: "bob", limit: 10 })).items).toEqual([bobs]);
      await engine.cancel({ owner: "ann", sessionId: anns.sessionId });
      await engine.cancel({ owner: "bob", sessionId: bobs.sessionId });
      const events = await collect(engine, { owner: "bob", afterSeq: 0 }, isEnd);
      expect(events.map(({ sessionId }) => sessionId)).toEqual([bobs.sessionId, bobs.sessionId]);
    });

    it("is not given away by its content's hash", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner: "ann" });
      await engine.executePlan({ owner: "ann", sessionId, plan: "large" });
      await engine.settled({ owner: "ann", sessionId });
      const { context } = await engine.readSession({ owner: "ann", sessionId });
      const { $blob: id } = context["probe::large_result"] as { readonly $blob: string };
      await expect(engine.readBlob({ owner: "bob", id })).rejects.toMatchObject({ code: "blob_not_found" });
    });

    it("is told apart by any name", async () => {
      const { engine } = await open();
      const owners = ["https://issuer.example/|sub", "stdio:1", "ünï", "a b", "%41", "A"];
      const made = await Promise.all(owners.map((owner) => engine.createSession({ owner })));
      for (const [index, owner] of owners.entries()) {
        expect((await engine.listSessions({ owner, limit: 10 })).items).toEqual([made[index]]);
      }
    });
  });
}
