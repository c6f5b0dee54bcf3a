import { toErgonError } from "@ergon/core";
import { hubError, RegistryEntry } from "@ergon/core/hub";
import { z } from "zod";
import { sameOriginFetch } from "../transport/same-origin-fetch.ts";

const REQUEST_LIMIT_MS = 15_000;
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** One entry may be this long; longer ones are not worth reading. */
export const MAX_ENTRY_CHARS = 64 * 1024;
const PAGE_SIZE = 100;
export const MAX_PAGES = 1_000;

const Official = z.object({ status: z.enum(["active", "deprecated", "deleted"]), publishedAt: z.string().optional() });
const Answer = z.object({
  server: z.looseObject({}),
  _meta: z.looseObject({ "io.modelcontextprotocol.registry/official": Official.optional() }).optional(),
});
const Page = z.object({
  servers: z.array(z.unknown()).max(1_000),
  metadata: z.object({ nextCursor: z.string().max(1_000).optional() }).optional(),
});

export type RegistryClient = {
  /** Every server's newest version that was changed since then; entries that cannot be read are left out and counted. */
  readonly list: (since: string | undefined, signal: AbortSignal) => AsyncGenerator<ListedPage>;
  /** One exact version; `latest` when none is named. */
  readonly read: (name: string, version: string | undefined, signal: AbortSignal) => Promise<RegistryEntry>;
};

type ListedPage = { readonly entries: readonly RegistryEntry[]; readonly unreadable: number };

/** The API of the official registry, which others speak as well. */
export function createRegistryClient(baseUrl: string): RegistryClient {
  const reach = sameOriginFetch(baseUrl);

  async function get(path: string, signal: AbortSignal): Promise<unknown> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
    try {
      const answer = await reach(new URL(path, baseUrl), { signal: limited, headers: { accept: "application/json" } });
      if (answer.status === 404) return undefined;
      if (!answer.ok) throw new Error(`it answered ${String(answer.status)}`);
      return JSON.parse(await bounded(answer)) as unknown;
    } catch (cause) {
      signal.throwIfAborted();
      const { message: said, cause: deeper } = toErgonError(cause, "registry_unavailable");
      const why = deeper instanceof Error && deeper.cause instanceof Error ? deeper.cause.message : said;
      const message = `The registry of MCP servers at ${new URL(baseUrl).origin} cannot be read: ${why}`;
      throw hubError("registry_unavailable", message, { cause, retryable: true });
    }
  }

  return {
    async *list(since, signal) {
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = new URLSearchParams({ version: "latest", limit: String(PAGE_SIZE) });
        if (since !== undefined) query.set("updated_since", since);
        if (cursor !== undefined) query.set("cursor", cursor);
        const read = Page.safeParse(await get(`/v0.1/servers?${query.toString()}`, signal));
        if (!read.success) throw hubError("registry_unavailable", `The registry's answer is not a list of servers.`);
        const entries = read.data.servers.flatMap((given) => entryOf(given) ?? []);
        yield { entries, unreadable: read.data.servers.length - entries.length };
        cursor = read.data.metadata?.nextCursor;
        if (cursor === undefined || cursor === "") return;
      }
    },
    read: async (name, version, signal) => {
      const path = `/v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version ?? "latest")}`;
      const given = await get(path, signal);
      if (given === undefined)
        throw hubError(
          "server_not_found",
          `The registry has no server "${name}"${version === undefined ? "" : ` ${version}`}.`,
        );
      const entry = entryOf(given);
      if (entry === undefined || entry.name !== name)
        throw hubError(
          "install_refused",
          `What the registry says of "${name}" cannot be read, or is of another server.`,
        );
      return entry;
    },
  };
}

function entryOf(given: unknown): RegistryEntry | undefined {
  const answer = Answer.safeParse(given);
  if (!answer.success || JSON.stringify(answer.data.server).length > MAX_ENTRY_CHARS) return undefined;
  const official = answer.data._meta?.["io.modelcontextprotocol.registry/official"];
  const entry = RegistryEntry.safeParse({
    ...answer.data.server,
    status: official?.status ?? "active",
    ...(official?.publishedAt === undefined ? {} : { publishedAt: official.publishedAt }),
  });
  return entry.success ? entry.data : undefined;
}

async function bounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer is over ${String(MAX_ANSWER_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
