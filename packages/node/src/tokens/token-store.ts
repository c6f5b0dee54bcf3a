/*
 * Who may come in. The first principal's tokens live in memory only; further ones are kept hashed in
 * `DATA/tokens.json`, which nobody but the owner of the data folder writes.
 *
 * T1  A name belongs to whoever made it, for ever: what a principal made is found by its name, so a name that was
 *     given to another would give away what the first one made. Its maker, or the admin, may make it anew.
 * T2  A revoked token stops working at once, streams included.
 */
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "@ergon/core";
import { accessError, usageError } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import { z } from "zod";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { FIRST_PRINCIPAL, type Principal, TokenScope } from "./principal.ts";
import { readPrivateFile, replacePrivateFile } from "./private-file.ts";
import { hashSecret, newSecret } from "./secret.ts";

/** Names ever given, revoked ones included. */
export const MAX_TOKENS = 10_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export const TokenName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit",
  );

export const TokenInfo = z.object({
  name: TokenName,
  scope: TokenScope,
  createdAt: z.string(),
  createdBy: z.string(),
});
export type TokenInfo = z.infer<typeof TokenInfo>;

const TokenRow = TokenInfo.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/), revokedAt: z.string().optional() });
type TokenRow = z.infer<typeof TokenRow>;
const TokensFile = z.object({ version: z.literal(1), tokens: z.array(TokenRow).max(MAX_TOKENS) });

export type TokenStore = {
  /** Whose token it is; undefined when it is nobody's. */
  readonly find: (secret: string) => Principal | undefined;
  /** The secret is in the answer and nowhere else. */
  readonly add: (request: {
    readonly name: string;
    readonly scope: TokenScope;
    readonly by: Principal;
  }) => Promise<{ readonly token: string; readonly info: TokenInfo }>;
  /** What `by` made; the admin sees all. */
  readonly list: (by: Principal) => readonly TokenInfo[];
  readonly revoke: (name: string, by: Principal) => Promise<void>;
};

export type TokenStoreOptions = {
  readonly dataFolder: string;
  /** The first token, as people hold it. */
  readonly firstToken: string;
  /** What other processes on the same folder come in with; dies with this process. */
  readonly localToken?: string;
  readonly clock: Clock;
};

type Entry = { readonly hash: Buffer; readonly principal: Principal; readonly revoke: () => void };

export async function openTokenStore({
  dataFolder,
  firstToken,
  localToken,
  clock,
}: TokenStoreOptions): Promise<TokenStore> {
  const path = join(dataFolder, "tokens.json");
  let rows = new Map((await readRows(path)).map((row) => [keyOf(row.name), row]));
  const entries = new Map<string, Entry>();
  let writing: Promise<unknown> = Promise.resolve();

  const first = { name: FIRST_PRINCIPAL, scope: "person", admin: true } as const;
  remember(hashSecret(firstToken), { ...first, local: false });
  if (localToken !== undefined) remember(hashSecret(localToken), { ...first, local: true });
  for (const row of rows.values()) {
    if (row.revokedAt === undefined) remember(Buffer.from(row.hash, "hex"), named(row));
  }

  return {
    find: (secret) => {
      const hash = hashSecret(secret);
      const entry = entries.get(hash.toString("hex"));
      return entry !== undefined && timingSafeEqual(entry.hash, hash) ? entry.principal : undefined;
    },
    add: ({ name, scope, by }) => oneAtATime(() => add(name, scope, by)),
    list: (by) => [...rows.values()].filter((row) => row.revokedAt === undefined && mayChange(row, by)).map(infoOf),
    revoke: (name, by) => oneAtATime(() => revoke(name, by)),
  };

  async function add(name: string, scope: TokenScope, by: Principal) {
    const checked = TokenName.safeParse(name);
    if (!checked.success)
      throw usageError(
        "input_invalid",
        `"${name}" cannot be a token's name: ${String(checked.error.issues[0]?.message)}.`,
      );
    const key = keyOf(name);
    const previous = rows.get(key);
    const taken = previous !== undefined && (previous.revokedAt === undefined || !mayChange(previous, by));
    if (taken || key === keyOf(FIRST_PRINCIPAL))
      throw accessError("token_exists", `The name "${name}" is taken; choose another.`);
    if (previous === undefined && rows.size >= MAX_TOKENS) {
      throw accessError(
        "token_limit",
        `${MAX_TOKENS} names have been given, revoked ones included; there can be no more.`,
      );
    }
    const token = newSecret();
    const hash = hashSecret(token);
    const info: TokenInfo = {
      name: previous?.name ?? name,
      scope,
      createdAt: isoTime(clock),
      createdBy: previous?.createdBy ?? by.name,
    };
    await write(new Map(rows).set(key, { ...info, hash: hash.toString("hex") }));
    remember(hash, named(info));
    return { token, info };
  }

  async function revoke(name: string, by: Principal): Promise<void> {
    const row = rows.get(keyOf(name));
    if (row === undefined || row.revokedAt !== undefined || !mayChange(row, by)) {
      throw accessError("token_not_found", `No token "${name}".`);
    }
    await write(new Map(rows).set(keyOf(name), { ...row, revokedAt: isoTime(clock) }));
    entries.get(row.hash)?.revoke();
    entries.delete(row.hash);
  }

  /** In memory only once it is on disk: a change that could not be kept did not happen. */
  async function write(next: Map<string, TokenRow>): Promise<void> {
    const text = `${JSON.stringify({ version: 1, tokens: [...next.values()] }, undefined, 2)}\n`;
    await replacePrivateFile(path, text).catch((error: unknown) => {
      throw fromFileSystem(error, `writing ${path}`);
    });
    rows = next;
  }

  function remember(hash: Buffer, who: Omit<Principal, "revoked">): void {
    const controller = new AbortController();
    const principal = { ...who, revoked: controller.signal };
    entries.set(hash.toString("hex"), { hash, principal, revoke: () => controller.abort() });
  }

  function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const done = writing.then(work, work);
    writing = done.catch(() => undefined);
    return done;
  }
}

async function readRows(path: string): Promise<readonly TokenRow[]> {
  try {
    const text = await readPrivateFile(path, MAX_FILE_BYTES);
    return text === undefined ? [] : TokensFile.parse(JSON.parse(text)).tokens;
  } catch (error) {
    // To go on without it would let revoked names be taken by others.
    const why = error instanceof Error ? error.message : "cannot be read";
    throw accessError("token_unusable", `${path} cannot be used: ${why}`, { cause: error });
  }
}

function named({ name, scope }: TokenInfo): Omit<Principal, "revoked"> {
  return { name, scope, admin: false, local: false };
}

function mayChange(row: TokenRow, by: Principal): boolean {
  return by.admin || row.createdBy === by.name;
}

function infoOf({ name, scope, createdAt, createdBy }: TokenRow): TokenInfo {
  return { name, scope, createdAt, createdBy };
}

/** Names that differ in case only would be told apart by machines and not by people. */
function keyOf(name: string): string {
  return name.toLowerCase();
}
