/** Larger bodies are refused before they are read to their end. */
export const MAX_BODY_BYTES = 256 * 1024;
/** Deeper documents are refused before they are parsed. */
export const MAX_BODY_DEPTH = 32;

export type ReadBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: 400 | 413; readonly code: string; readonly detail: string };

/** Reads a JSON body within its bounds. */
export async function readBody(request: Request): Promise<ReadBody> {
  const bytes = await readBytes(request);
  if (bytes === undefined) return refused(413, "body_too_large", `A request has at most ${MAX_BODY_BYTES} bytes.`);
  const text = new TextDecoder().decode(bytes);
  if (depthOf(text) > MAX_BODY_DEPTH) {
    return refused(400, "body_too_deep", `A request is nested at most ${MAX_BODY_DEPTH} levels deep.`);
  }
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return refused(400, "bad_json", "The body is no JSON.");
  }
}

function refused(status: 400 | 413, code: string, detail: string): ReadBody {
  return { ok: false, status, code, detail };
}

async function readBytes(request: Request): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** The deepest nesting, without building what is nested. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (isText) {
      if (sign === "\\") at += 1;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === "{" || sign === "[") deepest = Math.max(deepest, (depth += 1));
    else if (sign === "}" || sign === "]") depth -= 1;
  }
  return deepest;
}
