import { isErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import type { Page } from "@ergon/core/store-kit";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { App } from "../workspace/app.ts";
import { LOOK, throughOwner } from "../workspace/through-owner.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Ids as Ergon makes them; what is shorter may be the beginning of one. */
const WHOLE = /^[a-z]+_[0-9a-z]{26,}$/;
const PAGE_ROWS = 1_000;
/** A beginning is looked for among this many of the newest, a thousand each. */
const MAX_PAGES = 10;
const SHOWN_IDS = 5;

/** A session's id from what was typed: all of it, or a beginning that no other session's id has. */
export async function wholeSessionId(app: App, given: string): Promise<string> {
  return wholeId(app, given, async ({ engine }, cursor) => {
    const page = await engine.listSessions({ owner: FIRST_PRINCIPAL, limit: PAGE_ROWS, ...cursor });
    return { ...page, items: page.items.map(({ sessionId }) => sessionId) };
  });
}

/** The same for approvals. */
export async function wholeApprovalId(app: App, given: string): Promise<string> {
  return wholeId(app, given, async ({ approvals }, cursor) => {
    const page = await approvals.list({ limit: PAGE_ROWS, ...cursor });
    return { ...page, items: page.items.map(({ id }) => id) };
  });
}

type ReadIds = (workspace: Workspace, cursor: { readonly cursor?: string }) => Promise<Page<string>>;

async function wholeId(app: App, given: string, read: ReadIds): Promise<string> {
  if (WHOLE.test(given)) return given;
  let found: readonly string[];
  try {
    found = await throughOwner(app, LOOK, (workspace) => idsBeginning(given, (cursor) => read(workspace, cursor)));
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "folder_absent") return given;
    throw thrown;
  } finally {
    // The command that follows opens the folder again, and resumes unfinished sessions where it should.
    await app.leave();
  }
  const [one, ...more] = found;
  if (one === undefined || found.includes(given)) return given;
  if (more.length === 0) return one;
  const shown = found.slice(0, SHOWN_IDS).join(", ");
  const others = found.length > SHOWN_IDS ? `, and ${String(found.length - SHOWN_IDS)} more` : "";
  throw usageError("input_invalid", `"${given}" is the beginning of several ids: ${shown}${others}.`);
}

async function idsBeginning(
  given: string,
  read: (cursor: { readonly cursor?: string }) => Promise<Page<string>>,
): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await read(cursor === undefined ? {} : { cursor });
    found.push(...page.items.filter((id) => id.startsWith(given)));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}
