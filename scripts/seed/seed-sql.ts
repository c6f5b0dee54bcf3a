import { readSampleData, type SampleData, type SamplePerson } from "./sample-data.ts";

/** The sample data as SQL, the same text every time. */
export function seedSql(folder: string): string {
  const data = readSampleData(folder);
  const { capabilities, skills, roles, people } = data;
  const held = people.map((person) => ({ person, levels: levelsOf(person, data) }));
  return [
    "-- Sample data of the made-up city of Port Elden. Written by scripts/make-seed.ts from supabase/sample.",
    insert("skills", ["id", "name", "category", "description"], skills, ({ name, category, description }) => [
      idOf(name),
      name,
      category,
      description,
    ]),
    insert("capabilities", ["id", "name", "group_name", "description"], capabilities, ({ name, group, does }) => [
      idOf(name),
      name,
      group,
      `Can ${does}`,
    ]),
    insert(
      "capability_levels",
      ["capability_id", "level", "label", "indicator"],
      capabilities.flatMap(({ name, does }) => LEVELS.map((level, index) => ({ name, does, level, index }))),
      ({ name, does, level, index }) => [idOf(name), index + 1, level.label, level.indicator(does)],
    ),
    insert("capability_skills", ["capability_id", "skill_id"], pairs(capabilities), ([capability, skill]) => [
      idOf(capability),
      idOf(skill),
    ]),
    insert(
      "roles",
      ["id", "title", "grade_band", "division", "location", "primary_purpose"],
      roles,
      ({ title, grade, division, location, purpose }) => [idOf(title), title, grade, division, location, purpose],
    ),
    insertLevels(
      "role_capabilities",
      ["role_id", "capability_id"],
      roles.map(({ title, capabilities: levels }) => [title, levels]),
    ),
    insertLevels(
      "role_skills",
      ["role_id", "skill_id"],
      roles.map(({ title, skills: levels }) => [title, levels]),
    ),
    insert(
      "profiles",
      ["id", "name", "headline", "current_role_id", "location", "years_experience", "summary"],
      people,
      ({ name, role, years, summary }) => {
        const at = roles.find(({ title }) => title === role);
        const headline = at === undefined ? "" : `${at.title} in ${at.division}`;
        return [idOf(name), name, headline, role === undefined ? null : idOf(role), at?.location ?? "", years, summary];
      },
    ),
    insertLevels(
      "profile_capabilities",
      ["profile_id", "capability_id"],
      held.map(({ person, levels }) => [person.name, levels.capabilities]),
    ),
    insertLevels(
      "profile_skills",
      ["profile_id", "skill_id"],
      held.map(({ person, levels }) => [person.name, levels.skills]),
    ),
  ].join("\n");
}

type Levels = Readonly<Record<string, number>>;

const LEVELS = [
  { label: "Foundation", indicator: (does: string) => `Can ${does} in simple cases and with guidance` },
  { label: "Intermediate", indicator: (does: string) => `Can ${does} without help in familiar situations` },
  { label: "Proficient", indicator: (does: string) => `Can ${does} in new situations, and others come with questions` },
  { label: "Advanced", indicator: (does: string) => `Can ${does} where much is at stake, and teaches it` },
  { label: "Expert", indicator: (does: string) => `Is known well beyond the city for how to ${does}` },
] as const;
const HIGHEST = LEVELS.length;

function levelsOf(person: SamplePerson, data: SampleData): { readonly capabilities: Levels; readonly skills: Levels } {
  const role = data.roles.find(({ title }) => title === person.role);
  return {
    capabilities: heldLevels(person, role?.capabilities ?? {}, data.capabilities),
    skills: heldLevels(person, role?.skills ?? {}, data.skills),
  };
}

function heldLevels(person: SamplePerson, asked: Levels, all: readonly { readonly name: string }[]): Levels {
  const { everything, fit, plus, without } = person;
  const names = all.map(({ name }) => name);
  if (everything) return Object.fromEntries(names.map((name) => [name, HIGHEST]));
  const held = names.flatMap((name): [string, number][] => {
    const own = plus[name];
    if (own !== undefined) return [[name, own]];
    const wanted = asked[name];
    if (wanted === undefined || without.includes(name) || wanted + fit < 1) return [];
    return [[name, Math.min(HIGHEST, wanted + fit)]];
  });
  return Object.fromEntries(held);
}

function pairs(capabilities: SampleData["capabilities"]): [string, string][] {
  return capabilities.flatMap(({ name, skills }) => skills.map((skill): [string, string] => [name, skill]));
}

function insertLevels(table: string, [from, to]: [string, string], levels: readonly [string, Levels][]): string {
  const rows = levels.flatMap(([name, held]) => Object.entries(held).map(([other, level]) => ({ name, other, level })));
  return insert(table, [from, to, "level"], rows, ({ name, other, level }) => [idOf(name), idOf(other), level]);
}

type Value = string | number | null;

function insert<T>(
  table: string,
  columns: readonly string[],
  items: readonly T[],
  row: (item: T) => readonly Value[],
): string {
  const rows = items.map((item) => `  (${row(item).map(literal).join(", ")})`);
  return `insert into public.${table} (${columns.join(", ")}) values\n${rows.join(",\n")}\non conflict do nothing;\n`;
}

function literal(value: Value): string {
  if (value === null) return "null";
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

function idOf(name: string): string {
  const plain = name.normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("'", "");
  return plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
