/** Reads a database's public schema and writes it as the type that a Supabase client takes. */
export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export async function renderTypes(query: Query): Promise<string> {
  const [columns, functions] = [(await query(COLUMNS)) as Column[], (await query(FUNCTIONS)) as FunctionRow[]];
  const tables = Map.groupBy(columns, ({ table_name }) => table_name);
  return [
    "// Written by scripts/make-database-types.ts from supabase/migrations.",
    'import type { Json } from "@ergon/core";',
    "",
    "export type Database = {",
    "  public: {",
    "    Tables: {",
    ...[...tables].flatMap(([name, fields]) => renderTable(name, fields)),
    "    };",
    "    Views: Record<never, never>;",
    "    Functions: {",
    ...functions.flatMap(renderFunction),
    "    };",
    "  };",
    "};",
    "",
    ...TABLE,
    "",
  ].join("\n");
}

type Column = {
  readonly table_name: string;
  readonly column_name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly has_default: boolean;
  readonly is_made: boolean;
};

const COLUMNS = `
  select table_name, column_name, udt_name as type, is_nullable = 'YES' as nullable,
    (column_default is not null or is_identity = 'YES') as has_default,
    (is_generated = 'ALWAYS' or identity_generation = 'ALWAYS') as is_made
  from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`;

/** Columns that an insert must name, those that it may leave out, and those that the database makes. */
function renderTable(name: string, columns: readonly Column[]): string[] {
  const isOptional = ({ nullable, has_default }: Column): boolean => nullable || has_default;
  const given = columns.filter(({ is_made }) => !is_made);
  const parts = [
    given.filter((column) => !isOptional(column)),
    given.filter(isOptional),
    columns.filter(({ is_made }) => is_made),
  ];
  const fields = parts.map((part) =>
    part.map(({ column_name, type, nullable }) => `${column_name}: ${typeOf(type, nullable)};`),
  );
  const last = fields.findLastIndex((part) => part.length > 0);
  const written = fields.slice(0, last + 1).map((part) => (part.length === 0 ? "object" : `{\n${part.join("\n")}\n}`));
  const types = written.length === 1 ? written.join() : `\n${written.join(",\n")}\n`;
  return [`      ${name}: Table<${types}>;`];
}

const TABLE = [
  "type Table<Needed, Optional = object, Made = object> = {",
  "  Row: Needed & Optional & Made;",
  "  Insert: Needed & Partial<Optional>;",
  "  Update: Partial<Needed & Optional>;",
  "  Relationships: [];",
  "};",
];

type FunctionRow = {
  readonly name: string;
  readonly arg_names: readonly string[];
  readonly arg_modes: readonly string[] | null;
  readonly arg_types: readonly string[];
  readonly defaults: number;
  readonly returns: string;
};

const FUNCTIONS = `
  select p.proname as name, coalesce(p.proargnames, '{}') as arg_names, p.proargmodes::text[] as arg_modes,
    array(select t.typname::text from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality a(oid, n)
      join pg_type t on t.oid = a.oid order by a.n) as arg_types,
    p.pronargdefaults as defaults, r.typname as returns
  from pg_proc p join pg_type r on r.oid = p.prorettype
  where p.pronamespace = 'public'::regnamespace and r.typname <> 'trigger' order by p.proname`;

function renderFunction({ name, arg_names, arg_modes, arg_types, defaults, returns }: FunctionRow): string[] {
  const all = arg_names.map((arg, at) => ({
    arg,
    mode: arg_modes?.[at] ?? "i",
    type: typeOf(arg_types[at] ?? "", false),
  }));
  const taken = all.filter(({ mode }) => mode === "i");
  const given = all.filter(({ mode }) => mode === "t");
  const args = taken.map(({ arg, type }, at) => `${arg}${at >= taken.length - defaults ? "?" : ""}: ${type};`);
  const result =
    given.length === 0
      ? [`        Returns: ${returns === "void" ? "undefined" : typeOf(returns, false)};`]
      : ["        Returns: {", ...given.map(({ arg, type }) => `          ${arg}: ${type};`), "        }[];"];
  const accepted = args.length === 0 ? ["        Args: Record<never, never>;"] : object("Args", args);
  return [`      ${name}: {`, ...accepted, ...result, "      };"];
}

function object(name: string, fields: readonly string[]): string[] {
  return [`        ${name}: {`, ...fields.map((field) => `          ${field}`), "        };"];
}

const TYPES: Readonly<Record<string, string>> = {
  text: "string",
  uuid: "string",
  timestamptz: "string",
  vector: "string",
  int4: "number",
  int8: "number",
  float8: "number",
  bool: "boolean",
  jsonb: "Json",
};

function typeOf(type: string, nullable: boolean): string {
  const known = TYPES[type];
  if (known === undefined) throw new Error(`No type is known for ${type}.`);
  return nullable ? `${known} | null` : known;
}
