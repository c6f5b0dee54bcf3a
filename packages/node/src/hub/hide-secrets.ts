/** Short values occur by chance in any text; hiding those would hide everything. */
const MIN_SECRET_CHARS = 6;
const HIDDEN = "[hidden]";

/** Secrets may come and go, as those of a login do. */
type Secrets = () => readonly string[];

export function hideInText(secrets: Secrets): (text: string) => string {
  return (text) => longestFirst(secrets()).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

/** The same wherever in a JSON value it stands; a value without any is given back as it is. */
export function hideInValue(secrets: Secrets): <T>(value: T) => T {
  return <T>(value: T): T => {
    const hidden = longestFirst(secrets());
    if (hidden.length === 0 || value === undefined) return value;
    const text = JSON.stringify(value);
    const shown = hidden.reduce((rest, secret) => rest.replaceAll(JSON.stringify(secret).slice(1, -1), HIDDEN), text);
    return shown === text ? value : (JSON.parse(shown) as T);
  };
}

function longestFirst(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS).sort((a, b) => b.length - a.length);
}
