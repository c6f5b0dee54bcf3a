/*
 * A data folder at work: its engine is ours when we own the folder, else that of the process that does.
 *
 * K1  One process at a time drives a folder; ownership is a lock that dies with its holder.
 * K2  An owner listens on loopback, so that every other command on the folder works through it.
 * K3  When the owner disappears, the next to enter owns the folder and takes up what was left.
 * K4  An owner that ends first stops sending others to itself: they wait for the folder, not for an answer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  askRemote,
  createRemoteApprovals,
  createRemoteConversations,
  createRemoteEngine,
  createRemoteLoops,
  createRemoteServers,
  createRemoteTokens,
  FIRST_PRINCIPAL,
  folderOwned,
  listRemoteTools,
  type OwnedFolder,
  type RemoteTarget,
  validateRemotePlan,
} from "@ergon/node";
import { own } from "./own-folder.ts";
import { watchOwner } from "../workspace/watch-owner.ts";
import type { OpenOptions, Workspace, WorkspaceParts } from "../workspace/workspace.ts";

/**
 * An owner that starts says within this time where it listens; one that ends is gone by then, unless it waits for a call
 * that may not be repeated, and such a call has a minute by default.
 */
const LISTENING_MS = 75_000;
const LISTENING_POLL_MS = 50;
/** An owner that ends takes its token away just before its address. */
const NAMING_MS = 1_000;
const TELL_AFTER_MS = 3_000;

export async function openWorkspace(parts: WorkspaceParts, openOptions: OpenOptions): Promise<Workspace> {
  const started = performance.now();
  const deadline = started + (parts.patienceMs ?? LISTENING_MS);
  let told = false;
  for (;;) {
    parts.closing.throwIfAborted();
    const opened = await parts.open();
    if (opened.kind === "opened") return own(parts, opened, openOptions);
    const { url, token } = opened.owner;
    const listens = url !== undefined && token !== undefined;
    if (listens && openOptions.listen === undefined && openOptions.owns !== true)
      return visit({ url, token }, opened.owner, parts);
    const isClosed = url !== undefined && token === undefined && performance.now() > started + NAMING_MS;
    if (listens || isClosed || performance.now() > deadline) throw folderOwned(parts.values.data, opened.owner);
    if (!told && performance.now() > started + TELL_AFTER_MS) {
      told = true;
      parts.note(`Waiting for the process that owns ${parts.values.data}${pidIn(opened.owner)}: it starts or ends.`);
    }
    await sleep(LISTENING_POLL_MS, undefined, { signal: parts.closing });
  }
}

function pidIn({ pid }: OwnedFolder): string {
  return pid === undefined ? "" : ` (pid ${String(pid)})`;
}

function visit(target: RemoteTarget, owner: OwnedFolder, { values, note }: WorkspaceParts): Workspace {
  const stopWatching = watchOwner({ ...owner, dataDir: values.data }, note);
  return {
    engine: createRemoteEngine(target),
    loops: createRemoteLoops(target),
    conversations: createRemoteConversations(target, FIRST_PRINCIPAL),
    ask: (turn) => askRemote(target, { owner: FIRST_PRINCIPAL, ...turn }),
    url: target.url,
    isOwner: false,
    tokens: createRemoteTokens(target, FIRST_PRINCIPAL),
    servers: createRemoteServers(target, FIRST_PRINCIPAL),
    allToolsReady: async () => void (await listRemoteTools(target, FIRST_PRINCIPAL, { wait: true })),
    tools: () => listRemoteTools(target, FIRST_PRINCIPAL),
    validatePlan: (given) => validateRemotePlan(target, given),
    approvals: createRemoteApprovals(target, FIRST_PRINCIPAL),
    approvalsOf: (owner) => createRemoteApprovals(target, owner),
    close: async () => stopWatching(),
  };
}
