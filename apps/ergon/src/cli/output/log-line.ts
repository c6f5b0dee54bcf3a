import { oneLine } from "./printable.ts";

const WARN = 40;
const ERROR = 50;
/** Of what stands beside the message; all of it is in the JSON that is written where no person looks. */
const MAX_FIELD_CHARS = 200;

/** A line of the log as a person reads it; what is not ours stays as it is. */
export function logLine(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return line;
  }
  const { level, time: _time, pid: _pid, hostname: _hostname, msg = "", ...fields } = entry;
  const mark = Number(level) >= ERROR ? "error:" : Number(level) >= WARN ? "warning:" : "log:";
  const said = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const more = said.length === 0 ? "" : ` (${said.join(", ").slice(0, MAX_FIELD_CHARS)})`;
  return `${mark} ${oneLine(`${String(msg)}${more}`)}\n`;
}
