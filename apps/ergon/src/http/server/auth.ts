import { accessError } from "@ergon/core/schema";
import type { Principal, TokenStore } from "@ergon/node";
import type { Access } from "./route.ts";

/** Longer ones are nobody's; they are not even hashed. */
const MAX_TOKEN_LENGTH = 1_024;

/** Whose request it is, by its bearer token; throws `unauthorized`. */
export function authenticate(authorization: string | undefined, tokens: Pick<TokenStore, "find">): Principal {
  if (authorization === undefined) {
    throw accessError(
      "unauthorized",
      "Send a token as Authorization: Bearer TOKEN. The first one is in the data folder's file `token`.",
    );
  }
  const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization) ?? [];
  const principal = token === undefined || token.length > MAX_TOKEN_LENGTH ? undefined : tokens.find(token);
  if (principal === undefined)
    throw accessError("unauthorized", "This token is not known here, or it has been revoked.");
  return principal;
}

/** Throws `forbidden` when the principal's scope does not reach. */
export function authorize(principal: Principal, access: Access): void {
  if (access === "person" && principal.scope !== "person") {
    throw accessError("forbidden", "This needs a token with scope person.");
  }
  if (access === "admin" && !principal.admin) throw accessError("forbidden", "This needs the first token.");
}

/**
 * The owner of what the request makes and sees. A process on the same data folder may name another one: each stdio
 * process is a principal of its own, and works through the process that owns the folder.
 */
export function ownerOf(principal: Principal, named: string | readonly string[] | undefined): string {
  if (named === undefined) return principal.name;
  if (!principal.local) throw accessError("forbidden", "Only processes on the same data folder may name an owner.");
  const owner = typeof named === "string" ? decoded(named) : undefined;
  if (owner === undefined || owner === "") throw accessError("forbidden", "The Ergon-Owner header names nobody.");
  return owner;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
