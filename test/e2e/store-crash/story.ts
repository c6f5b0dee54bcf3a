// What the writer writes and what the reader expects: commit k of a session leaves k in every table.
import { createHash } from "node:crypto";
import type { BlobStore, Commit, StateStore } from "@ergon/core/store-kit";

const OWNER = "writer";
const AT = "2026-01-02T03:04:05.000Z";
/** Every so many commits one has a blob, put before it. */
const BLOB_EVERY = 20;

export async function writeCommit(
  store: StateStore,
  blobs: BlobStore | undefined,
  sessionId: string,
  k: number,
): Promise<void> {
  if (blobs !== undefined && k % BLOB_EVERY === 0) await blobs.put(blobOf(sessionId, k), "text/plain");
  await store.commit(commitOf(sessionId, k));
}

export function commitOf(sessionId: string, k: number): Commit {
  return {
    sessionId,
    owner: OWNER,
    expectVersion: k - 1,
    session: {
      core: { sessionId, status: "running", createdAt: AT, updatedAt: AT, waiting: [], run: k, energySpent: k },
      cursor: { k },
      input: k,
    },
    context: [
      { scope: "", key: "k", value: { kind: "inline", value: k } },
      { scope: `turn${String(k % 7)}`, key: "k", value: { kind: "inline", value: { k, text: filler(k) } } },
    ],
    journal: [
      ...(k === 1
        ? []
        : [
            {
              kind: "finish",
              position: positionOf(k - 1),
              state: "finished",
              result: { output: k - 1 },
              at: AT,
              energyUnits: 1,
            } as const,
          ]),
      {
        kind: "start",
        position: positionOf(k),
        scope: "",
        stepId: `step${String(k % 5)}`,
        toolId: "t",
        effects: "once",
        key: positionOf(k),
        argsHash: "",
        request: { k, text: filler(k) },
        at: AT,
      },
    ],
    energy: [{ at: AT, cause: "tool", units: 1, reference: positionOf(k) }],
    events: [{ type: "step-finished", at: AT, data: { k } }],
    cursor: { name: sessionId, seq: k },
    ...(k % BLOB_EVERY === 0
      ? {
          blobs: [
            {
              ref: { $blob: blobId(sessionId, k), bytes: blobOf(sessionId, k).byteLength, mediaType: "text/plain" },
              at: AT,
            },
          ],
        }
      : {}),
    durable: k % 8 === 0,
  };
}

/** The commit that the session is at; throws, naming the table, when any table disagrees. Rows up to `from` are known. */
export async function wholeCommit(store: StateStore, sessionId: string, from = 0, blobs?: BlobStore): Promise<number> {
  const record = await store.readSession(sessionId);
  const k = record?.version ?? 0;
  const expect = (table: string, found: unknown, expected: unknown): void => {
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    throw new Error(`${sessionId} is at commit ${String(k)}, but ${table} has ${JSON.stringify(found)}`);
  };
  expect("cursors", await store.readCursor(sessionId), k);
  if (record === undefined) {
    expect("events", await store.readEvents({ afterSeq: 0, sessionId, limit: 1 }), []);
    return 0;
  }
  expect("sessions", [record.core.run, record.cursor, record.input], [k, { k }, k]);
  expect("energy", await store.readEnergy({ sessionId }), { units: k, rows: k });
  const context = await store.readContext(sessionId, ["", `turn${String(k % 7)}`]);
  expect(
    "context",
    context.map(({ value }) => value),
    commitOf(sessionId, k).context?.map(({ value }) => value),
  );
  for (let at = from; at < k; at += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, k - at) }, (_, n) => at + n + 1);
    const range = { from: positionOf(at + 1), to: positionOf(Math.min(at + PAGE, k) + 1) };
    const rows = await store.readJournal({ sessionId, ranges: [range], order: "oldest", limit: PAGE });
    expect(
      "journal",
      rows.map((row) => [row.position, row.request, row.result]),
      numbers.map((n) => [positionOf(n), { k: n, text: filler(n) }, n === k ? undefined : { output: n }]),
    );
    for (const n of numbers.filter((number) => number % BLOB_EVERY === 0)) {
      expect("blobs", (await store.readBlobRow(blobId(sessionId, n), OWNER))?.ref.$blob, blobId(sessionId, n));
      if (blobs !== undefined) await blobs.get(blobId(sessionId, n));
    }
  }
  await expectEvents(store, sessionId, k);
  return k;
}

async function expectEvents(store: StateStore, sessionId: string, k: number): Promise<void> {
  let next = 1;
  for (let afterSeq = 0; ;) {
    const events = await store.readEvents({ afterSeq, sessionId, limit: PAGE });
    for (const { data, seq } of events) {
      if (data["k"] !== next)
        throw new Error(
          `${sessionId}: event ${String(seq)} is of commit ${JSON.stringify(data["k"])}, not ${String(next)}`,
        );
      next += 1;
      afterSeq = seq;
    }
    if (events.length < PAGE) break;
  }
  if (next !== k + 1) throw new Error(`${sessionId} is at commit ${String(k)}, but has events of ${String(next - 1)}`);
}

const PAGE = 1_000;

/** Sizes vary, so that some rows spill over pages. */
function filler(k: number): string {
  return "x".repeat((k * 7_919) % (k % 17 === 0 ? 9_000 : 600));
}

function positionOf(k: number): string {
  return String(k).padStart(8, "0");
}

function blobOf(sessionId: string, k: number): Buffer {
  return Buffer.from(`${sessionId} ${filler(k)} ${String(k)}`);
}

function blobId(sessionId: string, k: number): string {
  return createHash("sha256").update(blobOf(sessionId, k)).digest("hex");
}
