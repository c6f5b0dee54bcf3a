/** Extends a JSONPath text by one child: `$.rows` and 0 give `$.rows[0]`. */
export function childPath(parent: string, child: string | number): string {
  if (typeof child === "number") return `${parent}[${String(child)}]`;
  return PLAIN_NAME.test(child) ? `${parent}.${child}` : `${parent}[${JSON.stringify(child)}]`;
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
