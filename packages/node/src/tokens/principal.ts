import { z } from "zod";

/** An agent runs, asks and answers; a person also approves and makes tokens. Servers are changed with the first token alone. */
export const TokenScope = z.enum(["agent", "person"]);
export type TokenScope = z.infer<typeof TokenScope>;

/** Whoever holds the first token, and every command that works on the data folder itself. */
export const FIRST_PRINCIPAL = "admin";

export type Principal = {
  /** The `owner` of all that it makes. */
  readonly name: string;
  readonly scope: TokenScope;
  readonly admin: boolean;
  /** A process of the same user on the same data folder: it could do all this without us. */
  readonly local: boolean;
  /** Aborts when the token is revoked. */
  readonly revoked: AbortSignal;
};
