import type { TalentDatabase } from "./talent-database.ts";
import { TalentError } from "./talent-error.ts";

/** A name that is less alike than this is another name. */
const ALIKE = 0.4;
/** The best must be ahead of the next by this much to be the one that was meant. */
const AHEAD = 0.1;

export type Person = {
  readonly id: string;
  readonly name: string;
  readonly headline: string;
  readonly currentRoleId: string | null;
};
export type RoleName = { readonly id: string; readonly title: string; readonly gradeBand: string };

/** By id or by name, small slips forgiven; throws `person_not_found` or `person_ambiguous`. */
export async function findPerson(database: TalentDatabase, asked: string): Promise<Person> {
  const found = await database.findPeople(asked);
  const {
    id,
    name,
    headline,
    current_role_id: currentRoleId,
  } = onlyOne("person", asked, found, ({ name: shown }) => shown);
  return { id, name, headline, currentRoleId };
}

/** By id or by title, small slips forgiven; throws `role_not_found` or `role_ambiguous`. */
export async function findRole(database: TalentDatabase, asked: string): Promise<RoleName> {
  const found = await database.findRoles(asked);
  const { id, title, grade_band: gradeBand } = onlyOne("role", asked, found, ({ title: shown }) => shown);
  return { id, title, gradeBand };
}

function onlyOne<T extends { readonly id: string; readonly similarity: number }>(
  kind: "person" | "role",
  asked: string,
  found: readonly T[],
  shown: (one: T) => string,
): T {
  const likely = found.filter(({ similarity }) => similarity >= ALIKE);
  const [best, next] = likely;
  if (best === undefined) {
    const near = found.map(shown);
    const hint = near.length === 0 ? "" : ` Did you mean ${near.slice(0, 3).join(" or ")}?`;
    throw new TalentError(`${kind}_not_found`, `There is no ${kind} "${asked}".${hint}`, { asked, candidates: near });
  }
  const byId = likely.find(({ id }) => id === asked);
  if (byId !== undefined) return byId;
  if (next === undefined || best.similarity - next.similarity >= AHEAD) return best;
  const candidates = likely.map((one) => `${shown(one)} (${one.id})`);
  throw new TalentError(`${kind}_ambiguous`, `"${asked}" may be ${candidates.join(" or ")}. Which one?`, {
    asked,
    candidates,
  });
}
