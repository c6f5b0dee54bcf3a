import type { Json, JsonObject } from "@ergon/core";

/** How a server's resource is called here: the server's own address as it is, behind where the server is. */
export function addressOf(part: string, uri: string): string {
  return `ergon://servers/${part}/${uri}`;
}

/** Of an address, or a template, that `addressOf` has made. */
export function partsOf(uri: string): { readonly part?: string | undefined; readonly address?: string | undefined } {
  const [, part, address] = /^ergon:\/\/servers\/([a-z0-9-]+)\/(.+)$/s.exec(uri) ?? [];
  return { part, address };
}

/** A block of content whose resource can be read through us. What lies on the web is fetched there. */
export function shownBlock(part: string, block: Json): Json {
  if (!isObject(block)) return block;
  const { type, uri, resource } = block;
  if (type === "resource_link" && typeof uri === "string") return { ...block, uri: shownAddress(part, uri) };
  if (type === "resource" && isObject(resource) && typeof resource["uri"] === "string")
    return { ...block, resource: { ...resource, uri: shownAddress(part, resource["uri"]) } };
  return block;
}

function shownAddress(part: string, uri: string): string {
  return /^https?:/i.test(uri) ? uri : addressOf(part, uri);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
