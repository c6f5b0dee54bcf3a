import type { Diagnosis, FolderDiagnosis } from "../../services/diagnose.ts";
import { count, oneLine } from "./printable.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** What `ergon doctor` says to people. */
export function printDiagnosis(terminal: Terminal, diagnosis: Diagnosis): void {
  const { colors, columns } = terminal;
  const { version, node, data, capabilities, tools, dataRoots, problems } = diagnosis;
  terminal.print(`${colors.bold(`Ergon ${version}`)} on Node ${node.version} (${node.path})`);

  heading(terminal, "Data folder");
  terminal.print(`  ${data.folder}: ${describeData(data)}`);

  heading(terminal, "Database of the talent actions");
  terminal.print(`  ${describeDatabase(diagnosis.database)}`);

  heading(terminal, "Capabilities");
  const folders = capabilities.map((folder) => [`  ${folder.folder}`, describeFolder(folder)]);
  terminal.print(table(folders, { columns }));
  terminal.print(`  ${count(tools, "tool")} to call`);

  heading(terminal, "Folders that data tools may read");
  for (const root of dataRoots) terminal.print(`  ${oneLine(root)}`);

  heading(terminal, "Model");
  terminal.print(`  ${describeModel(diagnosis.model)}`);

  heading(terminal, "Sandbox");
  const profiles = diagnosis.sandbox.map(({ name, available, languages, note }) => {
    return [`  ${name}`, available ? languages.join(", ") : "not here", oneLine(note)];
  });
  terminal.print(profiles.length === 0 ? "  does not answer" : table(profiles, { columns }));
  const { available, note, unfenced } = diagnosis.limitedAccess;
  heading(terminal, "Limited access of servers");
  terminal.print(`  ${available ? "available" : "not here"}: ${oneLine(note)}`);
  if (unfenced.length > 0) terminal.print(`  unfenced, with all of your rights: ${oneLine(unfenced.join(", "))}`);

  for (const [group, settings] of grouped(diagnosis.settings)) {
    heading(terminal, `Settings: ${group}`);
    const rows = settings.map(({ env, shown, origin, description, source }) => {
      return [`  ${env}`, oneLine(shown), source === "environment" ? "environment" : origin, oneLine(description)];
    });
    terminal.print(table(rows, { columns, paint: (cell, column) => (column >= 2 ? colors.dim(cell) : cell) }));
  }

  heading(
    terminal,
    problems.length === 0 ? colors.green("Nothing is wrong.") : colors.red(count(problems.length, "problem")),
  );
  for (const problem of problems) terminal.print(`  ${colors.red("✗")} ${oneLine(problem)}`);
}

function describeModel({ kind, detail }: Diagnosis["model"]): string {
  if (kind === "model") return oneLine(detail);
  if (kind === "offline")
    return `none (${oneLine(detail)}): the offline planner plans, and findings are given as they are`;
  return `broken: ${oneLine(detail)}`;
}

function heading(terminal: Terminal, title: string): void {
  terminal.print(`\n${terminal.colors.bold(title)}`);
}

function describeData({ state, owner, schemaVersion }: Diagnosis["data"]): string {
  const schema = schemaVersion === undefined ? "" : `, schema version ${schemaVersion}`;
  switch (state) {
    case "absent":
      return "not made yet";
    case "free":
      return `in use by nobody${schema}`;
    case "owned": {
      const where = owner?.url === undefined ? "" : ` at ${owner.url}`;
      return `owned by ${owner?.pid === undefined ? "another process" : `pid ${owner.pid}`}${where}${schema}`;
    }
  }
}

function describeDatabase(database: Diagnosis["database"]): string {
  if (database.kind === "hosted") return `hosted Supabase at ${database.url}`;
  const states = {
    absent: "made with sample data when it is first used",
    ready: "there",
    unfinished: "not finished; made anew when it is next used",
  };
  return `embedded Supabase in ${database.folder}: ${states[database.state]}`;
}

function describeFolder({ source, tools, plans, problems }: FolderDiagnosis): string {
  const broken = problems.length === 0 ? "" : `, ${count(problems.length, "problem")}`;
  return `${count(tools, "tool")}, ${count(plans, "plan")}${broken}${source === "builtin" ? " (built in)" : ""}`;
}

function grouped(settings: Diagnosis["settings"]): Map<string, Diagnosis["settings"][number][]> {
  return Map.groupBy(settings, ({ group }) => group);
}
