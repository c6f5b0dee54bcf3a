import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const Level = z.int().min(1).max(5);
const Levels = z.record(z.string(), Level).default({});

const SampleCapability = z.strictObject({
  name: z.string(),
  group: z.string(),
  does: z.string(),
  skills: z.array(z.string()).min(1),
});
const SampleRole = z.strictObject({
  title: z.string(),
  grade: z.string().regex(/^G[1-9]$/),
  division: z.string(),
  location: z.string(),
  purpose: z.string(),
  capabilities: Levels,
  skills: Levels,
});
const SamplePerson = z.strictObject({
  name: z.string(),
  role: z.string().optional(),
  years: z.int().min(0).max(80),
  fit: z.int().min(-2).max(2).default(0),
  everything: z.boolean().default(false),
  summary: z.string(),
  plus: Levels,
  without: z.array(z.string()).default([]),
});
const SampleSkills = z.record(z.string(), z.record(z.string(), z.string()));

export type SamplePerson = z.infer<typeof SamplePerson>;

export type SampleData = {
  readonly capabilities: readonly z.infer<typeof SampleCapability>[];
  readonly skills: readonly { readonly name: string; readonly category: string; readonly description: string }[];
  readonly roles: readonly z.infer<typeof SampleRole>[];
  readonly people: readonly SamplePerson[];
};

/** Reads the sample data; throws when it names something that is not there. */
export function readSampleData(folder: string): SampleData {
  const read = <S extends z.ZodType>(name: string, schema: S): z.output<S> =>
    schema.parse(parse(readFileSync(join(folder, `${name}.yaml`), "utf8")));
  const skills = Object.entries(read("skills", SampleSkills)).flatMap(([category, listed]) =>
    Object.entries(listed).map(([name, description]) => ({ name, category, description })),
  );
  const data: SampleData = {
    capabilities: read("capabilities", z.array(SampleCapability)),
    skills,
    roles: read("roles", z.array(SampleRole)),
    people: read("people", z.array(SamplePerson)),
  };
  refuseUnknownNames(data);
  return data;
}

function refuseUnknownNames({ capabilities, skills, roles, people }: SampleData): void {
  const capabilityNames = new Set(capabilities.map(({ name }) => name));
  const skillNames = new Set(skills.map(({ name }) => name));
  const titles = new Set(roles.map(({ title }) => title));
  const either = new Set([...capabilityNames, ...skillNames]);
  const unknown = [
    ...capabilities.flatMap((one) => one.skills.filter((name) => !skillNames.has(name))),
    ...roles.flatMap((role) => [
      ...Object.keys(role.capabilities).filter((name) => !capabilityNames.has(name)),
      ...Object.keys(role.skills).filter((name) => !skillNames.has(name)),
    ]),
    ...people.flatMap(({ role, plus, without }) => [
      ...(role === undefined || titles.has(role) ? [] : [role]),
      ...[...Object.keys(plus), ...without].filter((name) => !either.has(name)),
    ]),
  ];
  if (unknown.length > 0) throw new Error(`The sample data names what is not there: ${unknown.join(", ")}.`);
}
