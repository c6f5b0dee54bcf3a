import type { Json, JsonObject, Tool } from "@ergon/core";

/** Found arguments that the tool's own schema would refuse are not taken for known. */
export async function validArgs(tool: Tool, found: JsonObject, context: JsonObject): Promise<Record<string, Json>> {
  const kept: Record<string, Json> = { ...found };
  try {
    const { validateArgs, defaultArgs } = await tool.body();
    const defaults: unknown = defaultArgs?.(context);
    const merged = { ...(typeof defaults === "object" ? defaults : {}), ...kept };
    const checked = validateArgs(merged);
    if (checked.ok) return kept;
    for (const { path } of checked.issues) {
      const [, name = ""] = path.split("/");
      delete kept[name.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    return kept;
  } catch {
    // The gate will say what is wrong with this tool.
    return kept;
  }
}
