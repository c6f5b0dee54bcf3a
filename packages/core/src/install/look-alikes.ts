/*
 * Names that are made to be taken for others. Compared with the names that people know: those of well-known servers, and of
 * the servers that are configured already.
 */
import { editDistance } from "../schema/values/suggest.ts";

/** Packages whose names are worth imitating. */
export const WELL_KNOWN_PACKAGES: readonly string[] = [
  "@modelcontextprotocol/server-everything",
  "@modelcontextprotocol/server-filesystem",
  "@modelcontextprotocol/server-memory",
  "@modelcontextprotocol/server-sequential-thinking",
  "@modelcontextprotocol/inspector",
  "@modelcontextprotocol/sdk",
  "@playwright/mcp",
  "@upstash/context7-mcp",
  "@supabase/mcp-server-supabase",
  "@notionhq/notion-mcp-server",
  "@sentry/mcp-server",
  "@stripe/mcp",
  "@azure/mcp",
  "@cloudflare/mcp-server-cloudflare",
  "@heroku/mcp-server",
  "chrome-devtools-mcp",
  "firecrawl-mcp",
  "mcp-remote",
  "tavily-mcp",
];

/** The name that this one could be taken for; undefined when it is one of the known names, or like none of them. */
export function lookAlike(name: string, known: readonly string[] = WELL_KNOWN_PACKAGES): string | undefined {
  if (known.includes(name)) return undefined;
  const scopes = new Set(known.map(scopeOf).filter((scope) => scope !== ""));
  const scope = scopeOf(name);
  // Whoever owns a known scope may name packages as they like.
  if (scopes.has(scope)) return undefined;
  return (
    known.find((other) => isLike(name, other)) ?? [...scopes].find((other) => scope !== "" && isLike(scope, other))
  );
}

function isLike(name: string, other: string): boolean {
  const [a, b] = [skeleton(name), skeleton(other)];
  if (a === b) return true;
  return editDistance(a, b, allowed(b) + 1) <= allowed(b);
}

/** Short names are near one another by chance. */
function allowed(text: string): number {
  if (text.length < 6) return 0;
  return text.length < 14 ? 1 : 2;
}

function scopeOf(name: string): string {
  return name.startsWith("@") ? (name.split("/")[0] ?? "") : "";
}

/** What a hasty reader sees: letters that look the same become the same, and marks that do not show go away. */
function skeleton(text: string): string {
  let seen = "";
  for (const mark of text.normalize("NFKD").toLowerCase())
    seen += SAME_LOOK[mark] ?? (/[\p{M}\p{Cf}]/u.test(mark) ? "" : mark);
  return seen.replaceAll("rn", "m").replaceAll("vv", "w").replaceAll(/[-_.]/g, "");
}

/** Cyrillic and Greek letters, and digits, that pass for Latin ones. */
const SAME_LOOK: Readonly<Record<string, string>> = {
  ...pairs("абеикопрстухѕіјӏԁԛѡ", "abeukonpctyxsijldqw"),
  ...pairs("αβεικνορτυχ", "abeikvoptux"),
  ...pairs("01357", "olest"),
  l: "l",
  ı: "i",
};

function pairs(from: string, to: string): Record<string, string> {
  const targets = Array.from(to);
  return Object.fromEntries(Array.from(from).map((mark, at) => [mark, targets[at] ?? mark]));
}
