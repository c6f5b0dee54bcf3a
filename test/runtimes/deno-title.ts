export function formatTitle(title: string, values: readonly unknown[], index: number): string {
  const rest = [...values];
  const first = values[0];
  return title
    .replaceAll(/%([sdifjo#$%])/g, (whole, kind: string) => {
      if (kind === "%") return "%";
      if (kind === "#") return String(index);
      if (kind === "$") return String(index + 1);
      return rest.length === 0 ? whole : show(rest.shift());
    })
    .replaceAll(/\$([\w.]+)/g, (whole, path: string) => {
      const found = path.split(".").reduce<unknown>(property, first);
      return found === undefined ? whole : show(found);
    });
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function show(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
