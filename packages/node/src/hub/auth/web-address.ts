import { hubError } from "@ergon/core/hub";

const MAX_ADDRESS_CHARS = 8_192;

/**
 * An address that a server wants a person to open. It is shown, never run: what a browser or a shell might take for a
 * file, a program or a flag does not get that far. A server that runs elsewhere, at `from`, sends nobody to this machine or its
 * network: what answers there takes the person's browser for the person.
 */
export function checkWebAddress(address: string | URL, serverId: string, from?: string): URL {
  const text = String(address);
  const refused = (why: string): Error =>
    hubError("address_refused", `The server "${serverId}" sends people to an address that ${why}. It was not opened.`, {
      details: { serverId },
    });
  if (text.length > MAX_ADDRESS_CHARS) throw refused(`has more than ${String(MAX_ADDRESS_CHARS)} characters`);
  if (!URL.canParse(text)) throw refused("is no web address");
  const url = new URL(text);
  const isWeb = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
  if (!isWeb) throw refused(`begins with "${url.protocol}" and not with "https:"`);
  if (from !== undefined && url.hostname !== from && isNear(url.hostname))
    throw refused(`leads to this machine or its network (${url.hostname}), where the server is not`);
  if (url.username !== "" || url.password !== "") throw refused("has a name or a password in it");
  return url;
}

/** This machine or a private network, as far as an address tells. */
function isNear(hostname: string): boolean {
  return (
    isLoopback(hostname) ||
    /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.[\d.]+$/.test(hostname) ||
    /^\[(?:::|f[cd]|fe[89ab])/.test(hostname) ||
    /(?:^|\.)(?:localhost|local|internal)\.?$/.test(hostname)
  );
}

/** This machine, by name or by number. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
