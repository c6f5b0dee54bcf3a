import { createHash } from "node:crypto";
import type { Answer, RequestContext } from "./route.ts";

/** 200 with an ETag of the body, or 304 without the body if the client has the same already. */
export function conditional(body: unknown, { ifNoneMatch }: Pick<RequestContext, "ifNoneMatch">): Answer {
  const json = JSON.stringify(body);
  const etag = `"${createHash("sha256").update(json).digest("base64url")}"`;
  const headers = { etag };
  return matches(ifNoneMatch, etag) ? { status: 304, headers, body: undefined } : { status: 200, headers, json };
}

/** The comparison that the header asks for is the weak one: a proxy that compressed an answer may have marked its tag. */
function matches(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
