import { LoopAlreadyExistsError } from "@ergon/core/spec";
import { LoopState } from "@ergon/core/schema";
import {
  type LoopKeeping,
  type LoopRef,
  type LoopStore,
  type LoopSummary,
  MAX_LOOP_OWNERS,
  RECENT_SCORES,
} from "@ergon/core/store-kit";
import { openSmallStore, type StorePlace } from "./small-store.ts";

export type SqliteLoopOptions = LoopKeeping & StorePlace;

/** Loops that outlive the process. Scores are rows of their own: a decision costs the same however many there are. */
export function openSqliteLoopStore(options: SqliteLoopOptions): LoopStore {
  const { keepPerOwner, maxOwners = MAX_LOOP_OWNERS } = options;
  const { all, run, acting, close } = openSmallStore(options, { what: "loop store" });

  const heardOf = (owner: string): void =>
    run(
      `UPDATE loop_owners SET heard = (SELECT max(heard) FROM loop_owners) + 1
       WHERE owner = ? AND heard < (SELECT max(heard) FROM loop_owners)`,
      owner,
    );
  const find = ({ owner, id }: LoopRef): LoopRow | undefined => {
    heardOf(owner);
    return all<LoopRow>(`${SELECT_LOOP} WHERE owner = ? AND id = ?`, owner, id)[0];
  };

  return {
    add: (owner, loop) =>
      acting("adding a loop", () => {
        if (find({ owner, id: loop.id }) !== undefined) throw new LoopAlreadyExistsError(loop.id);
        run("INSERT OR IGNORE INTO loop_owners SELECT ?, coalesce(max(heard), 0) + 1 FROM loop_owners", owner);
        const { id, score_history } = loop;
        const values = [id, loop.loop_type, loop.status, loop.current_score, loop.iteration, loop.created_at];
        run(
          `INSERT INTO loops (owner, id, loop_type, status, current_score, iteration, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          owner,
          ...values,
        );
        const n = find({ owner, id })?.n ?? 0;
        for (const score of score_history) run(ADD_SCORE, n, score);
        run(
          `DELETE FROM loops WHERE owner = ?1 AND n NOT IN
             (SELECT n FROM loops WHERE owner = ?1 ORDER BY n DESC LIMIT ?2 + 0)`,
          owner,
          keepPerOwner,
        );
        run(
          "DELETE FROM loop_owners WHERE owner NOT IN (SELECT owner FROM loop_owners ORDER BY heard DESC LIMIT ? + 0)",
          maxOwners,
        );
      }),
    read: (ref) =>
      acting("reading a loop", () => {
        const row = find(ref);
        if (row === undefined) return undefined;
        const scores = all<ScoreRow>("SELECT score FROM loop_scores WHERE loop_n = ? ORDER BY position", row.n);
        return LoopState.parse({ ...row, score_history: scores.map(({ score }) => score) });
      }),
    list: (owner) =>
      acting("listing loops", () => {
        heardOf(owner);
        return all<LoopRow>(`${SELECT_LOOP} WHERE owner = ? ORDER BY n`, owner).map(summaryOf);
      }),
    change: (ref, decide) =>
      acting("changing a loop", () => {
        const row = find(ref);
        if (row === undefined) return undefined;
        const recent = all<ScoreRow>(
          "SELECT score FROM loop_scores WHERE loop_n = ? ORDER BY position DESC LIMIT ? + 0",
          row.n,
          RECENT_SCORES,
        );
        const recent_scores = recent.map(({ score }) => score).reverse();
        const { score, status, iteration } = decide({ ...summaryOf(row), recent_scores });
        run(ADD_SCORE, row.n, score);
        run(
          "UPDATE loops SET status = ?, iteration = ?, current_score = ? WHERE n = ?",
          status,
          iteration,
          score,
          row.n,
        );
        return { ...summaryOf(row), status, iteration, current_score: score };
      }),
    close,
  };
}

type LoopRow = LoopSummary & { readonly n: number };
type ScoreRow = { readonly score: number };

const Summary = LoopState.omit({ score_history: true });

/** Rows are parsed: what a later Ergon may have written must not pass for ours. */
function summaryOf(row: LoopRow): LoopSummary {
  return Summary.parse(row);
}

const SELECT_LOOP = "SELECT n, id, loop_type, status, current_score, iteration, created_at FROM loops";
const ADD_SCORE = `INSERT INTO loop_scores SELECT ?1, coalesce(max(position), 0) + 1, ?2 FROM loop_scores WHERE loop_n = ?1`;
