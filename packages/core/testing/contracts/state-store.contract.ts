import { afterEach, describe } from "vitest";
import type { StateStore } from "../../src/ports/state-store.ts";
import { commitRules } from "../state-store/commits.ts";
import { modelRules } from "../state-store/model-test.ts";
import type { OpenedStore, OpenStore } from "../state-store/opened-store.ts";
import { runRules } from "../state-store/runs.ts";
import { sessionRules } from "../state-store/read-sessions.ts";
import { contextRules } from "../state-store/read-context.ts";
import { journalRules } from "../state-store/read-journal.ts";
import { eventRules } from "../state-store/read-events.ts";
import { ledgerRules } from "../state-store/read-ledgers.ts";
import { textRules } from "../state-store/odd-text.ts";

/** What every StateStore must do. `open` gives a fresh, empty one each time; the suite closes it. */
export function stateStoreContract(name: string, open: OpenStore): void {
  const opened: StateStore[] = [];
  const track = async (): Promise<OpenedStore> => {
    const { store, reopen } = await open();
    opened.push(store);
    if (reopen === undefined) return { store };
    return {
      store,
      reopen: async () => {
        const again = await reopen();
        opened.push(again);
        return again;
      },
    };
  };

  describe(`the state store contract: ${name}`, () => {
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    commitRules(track);
    sessionRules(track);
    runRules(track);
    contextRules(track);
    journalRules(track);
    eventRules(track);
    ledgerRules(track);
    textRules(track);
    modelRules(track);
  });
}
