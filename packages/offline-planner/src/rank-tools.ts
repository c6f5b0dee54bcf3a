import MiniSearch from "minisearch";
import type { Embedder, Embedding, Tool } from "@ergon/core";
import type { CoreFunctions } from "./core-functions.ts";
import { propertiesOf } from "./properties.ts";
import { keywordsOf, stemOf, wordsOf } from "./words.ts";

/** More tools than this are first narrowed by their words: embedding each takes its time. */
export const MAX_EMBEDDED_TOOLS = 200;

export type RankedTool = {
  readonly tool: Tool;
  /** From 0 to 1: how sure it is that this tool is meant. */
  readonly score: number;
  /** The words of the message that speak for it. */
  readonly because: readonly string[];
};

export type ToolRanker = {
  readonly rank: (text: string, tools: readonly Tool[]) => Promise<readonly RankedTool[]>;
};

/** How much each says: words are sure where they meet, meaning reaches further. */
const WORDS_SHARE = 0.6;
/** What a sentence encoder gives to two texts that have nothing to do with each other, and to paraphrases. */
const UNRELATED = 0.15;
const PARAPHRASE = 0.6;

type Entry = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly tags: string;
  readonly description: string;
  readonly args: string;
};

const BOOST = { name: 3, title: 2.5, tags: 2, description: 1, args: 0.6 };

export type ToolRankerDeps = Pick<CoreFunctions, "similarity"> & { readonly embedder: Embedder };

/** Ranks by words and by meaning together; nothing here asks a model or the network. */
export function createToolRanker({ embedder, similarity }: ToolRankerDeps): ToolRanker {
  const vectors = new WeakMap<Tool, Embedding>();
  let indexed: { readonly tools: readonly Tool[]; readonly index: MiniSearch<Entry> } | undefined;

  return {
    rank: async (text, tools) => {
      if (tools.length === 0) return [];
      const index = indexOf(tools);
      const wanted = [...new Set(keywordsOf(text))];
      const found = new Map(index.search(text).map((result) => [String(result.id), result]));
      const best = Math.max(strengthOf(wanted.length), ...[...found.values()].map(({ score }) => score));
      const near = await nearness(text, narrowed(tools, found));
      return tools
        .map((tool): RankedTool => {
          const match = found.get(tool.id);
          const byWords = match === undefined ? 0 : match.score / best;
          const score = WORDS_SHARE * byWords + (1 - WORDS_SHARE) * (near.get(tool) ?? 0);
          return { tool, score: Math.round(score * 1_000) / 1_000, because: saidFor(match?.queryTerms ?? [], text) };
        })
        .sort((a, b) => b.score - a.score || (a.tool.id < b.tool.id ? -1 : 1));
    },
  };

  function indexOf(tools: readonly Tool[]): MiniSearch<Entry> {
    if (indexed !== undefined && sameTools(indexed.tools, tools)) return indexed.index;
    const index = new MiniSearch<Entry>({
      fields: Object.keys(BOOST),
      tokenize: (given) => [...keywordsOf(given)],
      processTerm: (term) => term,
      searchOptions: {
        boost: BOOST,
        fuzzy: (term) => (term.length > 5 ? 0.2 : false),
        prefix: (term) => term.length > 3,
      },
    });
    index.addAll(tools.map(entryOf));
    // How much a word says is counted against the other tools: among very few, even a perfect match would say little.
    for (let at = tools.length; at < FEWEST_INDEXED; at += 1) index.add(filler(at));
    indexed = { tools, index };
    return index;
  }

  async function nearness(text: string, tools: readonly Tool[]): Promise<ReadonlyMap<Tool, number>> {
    const unknown = tools.filter((tool) => !vectors.has(tool));
    const [[query], made] = await Promise.all([
      embedder.embed([text]),
      embedder.embed(unknown.map(toldOf), { keep: true }),
    ]);
    for (const [at, tool] of unknown.entries()) {
      const vector = made[at];
      if (vector !== undefined) vectors.set(tool, vector);
    }
    const near = new Map<Tool, number>();
    for (const tool of tools) {
      const vector = vectors.get(tool);
      const cosine = vector === undefined || query === undefined ? undefined : similarity(query, vector);
      near.set(tool, Math.min(1, Math.max(0, ((cosine ?? 0) - UNRELATED) / (PARAPHRASE - UNRELATED))));
    }
    return near;
  }
}

/** The message's own words behind the stems. */
function saidFor(stems: readonly string[], text: string): readonly string[] {
  return [...new Set(wordsOf(text).filter((word) => stems.includes(stemOf(word))))];
}

/** The score that a good match of so many words has: a single word that happens to meet is not a sure thing. */
function strengthOf(words: number): number {
  return 6 + 4 * Math.min(words, 6);
}

function narrowed(tools: readonly Tool[], found: ReadonlyMap<string, { readonly score: number }>): readonly Tool[] {
  if (tools.length <= MAX_EMBEDDED_TOOLS) return tools;
  return tools
    .filter(({ id }) => found.has(id))
    .sort((a, b) => (found.get(b.id)?.score ?? 0) - (found.get(a.id)?.score ?? 0))
    .slice(0, MAX_EMBEDDED_TOOLS);
}

const FEWEST_INDEXED = 8;

function filler(at: number): Entry {
  const word = `~${String(at)}`;
  return { id: word, name: word, title: word, tags: word, description: word, args: word };
}

function sameTools(a: readonly Tool[], b: readonly Tool[]): boolean {
  return a === b || (a.length === b.length && a.every((tool, at) => tool === b[at]));
}

function entryOf(tool: Tool): Entry {
  const { id, title, tags, description } = tool;
  return {
    id,
    name: wordsOf(id.slice(id.lastIndexOf("::") + 1)).join(" "),
    title,
    tags: tags.join(" "),
    description,
    args: argWords(tool),
  };
}

function argWords(tool: Tool): string {
  return propertiesOf(tool)
    .map(([name, { description }]) => `${name} ${typeof description === "string" ? description : ""}`)
    .join(" ");
}

function toldOf({ title, description }: Tool): string {
  return `${title}. ${description}`;
}
