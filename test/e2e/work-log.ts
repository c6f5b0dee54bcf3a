// What the tools of fixtures/work were asked and did, as they noted it in the folder that WORK_LOG names.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const Attempt = z.object({ tool: z.string(), key: z.string(), label: z.string(), pid: z.int(), at: z.string() });
const Sent = z.object({ key: z.string(), label: z.string() });
export type Attempt = z.infer<typeof Attempt>;
export type Sent = z.infer<typeof Sent>;

/** The capability folder whose tools these are. */
export const WORK = join(import.meta.dirname, "fixtures/work");

export const readAttempts = (folder: string): Attempt[] => readLog(folder, "attempts", Attempt);
export const readSent = (folder: string): Sent[] => readLog(folder, "sent", Sent);

/** The keys under which something was booked; each stands once by the nature of files. */
export function readBookings(folder: string): string[] {
  const shelf = join(folder, "bookings");
  return existsSync(shelf) ? readdirSync(shelf).map(decodeURIComponent) : [];
}

export type Moment = `${"before" | "after"} ${string}`;

/** Holds a call up, before or after it has done what it does, until it is released. */
export function hold(folder: string, moment: Moment): void {
  mkdirSync(join(folder, "holds"), { recursive: true });
  writeFileSync(join(folder, "holds", moment), "");
}

export function release(folder: string, moment: Moment): void {
  rmSync(join(folder, "holds", moment));
}

export function sessionOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

function readLog<T>(folder: string, name: string, schema: z.ZodType<T>): T[] {
  const file = join(folder, `${name}.jsonl`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => schema.parse(JSON.parse(line)));
}
