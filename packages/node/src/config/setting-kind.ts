import { delimiter } from "node:path";
import { z } from "zod";

/** How one kind of setting is read. */
export type SettingKind<T> = {
  /** Completes the sentence "it must be …". */
  readonly expects: string;
  /** Takes what a flag, a variable or the configuration file holds: text, or the natural JSON value. */
  readonly schema: () => z.ZodType<T>;
  /** Relative ones mean: from the folder that the value was written in. */
  readonly isPath?: true;
};

export const MAX_SETTING_LENGTH = 10_000;
const Text = z.string().trim().min(1).max(MAX_SETTING_LENGTH);
const Path = Text.refine((given) => !given.includes("\0"));

export function text(expects = "some text"): SettingKind<string> {
  return { expects, schema: () => Text };
}

export function matching(pattern: RegExp, expects: string): SettingKind<string> {
  return { expects, schema: () => Text.regex(pattern) };
}

export function choice<const Value extends string>(...values: readonly Value[]): SettingKind<Value> {
  return {
    expects: values.length === 1 ? `${values[0]}` : `one of ${values.join(", ")}`,
    schema: () => z.enum(values),
  };
}

export function flag(): SettingKind<boolean> {
  const words = new Map<unknown, boolean>([
    ...["true", "1", "yes", "on"].map((word) => [word, true] as const),
    ...["false", "0", "no", "off"].map((word) => [word, false] as const),
  ]);
  const fromText = (given: unknown) => (typeof given === "string" ? (words.get(given.toLowerCase()) ?? given) : given);
  return { expects: "true or false", schema: () => z.preprocess(fromText, z.boolean()) };
}

export function wholeNumber(min: number, max: number): SettingKind<number> {
  return {
    expects: `a whole number from ${min} to ${max}`,
    schema: () => z.preprocess(numberFromText, z.int().min(min).max(max)),
  };
}

export function decimal(min: number, max: number): SettingKind<number> {
  return {
    expects: `a number from ${min} to ${max}`,
    schema: () => z.preprocess(numberFromText, z.number().min(min).max(max)),
  };
}

export function webUrl(): SettingKind<string> {
  return { expects: "an http or https URL", schema: () => Text.pipe(z.url({ protocol: /^https?$/ })) };
}

export function path(): SettingKind<string> {
  return { expects: "a path", schema: () => Path, isPath: true };
}

export function pathList(): SettingKind<readonly string[]> {
  return {
    expects: `paths separated by "${delimiter}"`,
    schema: () => z.preprocess(splitAt(delimiter), z.array(Path)),
    isPath: true,
  };
}

export function wordList(pattern: RegExp, expects: string): SettingKind<readonly string[]> {
  return { expects, schema: () => z.preprocess(splitAt(","), z.array(Text.regex(pattern))) };
}

export function optional<T>(kind: SettingKind<T>): SettingKind<T | undefined> {
  return { expects: kind.expects, schema: kind.schema };
}

function numberFromText(given: unknown): unknown {
  return typeof given === "string" && /^[+-]?\d+(\.\d+)?$/.test(given.trim()) ? Number(given) : given;
}

function splitAt(separator: string) {
  return (given: unknown): unknown =>
    typeof given === "string" ? given.split(separator).filter((part) => part.trim() !== "") : given;
}
