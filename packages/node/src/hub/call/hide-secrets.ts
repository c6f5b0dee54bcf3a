/** Short values occur by chance in any text; hiding those would hide everything. */
const MIN_SECRET_CHARS = 6;
const HIDDEN = "[hidden]";
/** Tokens of logins change; forms of old ones are not kept for ever. */
const MAX_REMEMBERED = 1_000;

/** Secrets may come and go, as those of a login do. */
type Secrets = () => readonly string[];

export function hideInText(secrets: Secrets): (text: string) => string {
  const formsOf = createForms();
  return (text) => formsOf(secrets()).reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}

/** The same wherever in a JSON value it stands; a value without any is given back as it is. */
export function hideInValue(secrets: Secrets): <T>(value: T) => T {
  const formsOf = createForms();
  return <T>(value: T): T => {
    const forms = formsOf(secrets());
    if (forms.length === 0 || value === undefined) return value;
    // Most values hold none, and looking at their text at once is the quickest way to know.
    const text = JSON.stringify(value);
    if (!forms.some((form) => text.includes(form))) return value;
    return hiddenIn(JSON.parse(text), (said) =>
      forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), said),
    ) as T;
  };
}

function hiddenIn(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => hiddenIn(item, hide));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hiddenIn(item, hide)]));
}

/** As it is, in an address, and in JSON within JSON within JSON: servers print what they were sent. */
function createForms(): (secrets: readonly string[]) => readonly string[] {
  const remembered = new Map<string, readonly string[]>();
  return (secrets) => {
    const all = secrets.flatMap((secret) => {
      if (secret.length < MIN_SECRET_CHARS) return [];
      const known = remembered.get(secret);
      if (known !== undefined) return known;
      const forms = [...new Set([secret, ...linesOf(secret)].flatMap(formsOfOne))];
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(secret, forms);
      return forms;
    });
    return all.sort((a, b) => b.length - a.length);
  };
}

/** What is printed line by line is found line by line. Keys are often kept in one line, with `\\n` between their lines. */
function linesOf(secret: string): readonly string[] {
  const lines = secret.split(/\r\n|\r|\n|\\n/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= MIN_SECRET_CHARS);
}

function formsOfOne(secret: string): readonly string[] {
  const once = escaped(secret);
  return [escaped(escaped(once)), escaped(once), once, encodeURIComponent(secret), secret];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
