/** A frame that is longer is not ours. */
export const MAX_FRAME_CHARACTERS = 16 * 1024 * 1024;

export type ServerSentEvent = { readonly id?: string; readonly event?: string; readonly data: string };

/**
 * The frames of a server-sent event stream, as the living standard reads them. Comments show as frames of no data
 * (`undefined`), so that a reader sees that the other side lives.
 */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent | undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let frame: Frame = {};
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A trailing CR may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    if (rest.length + (frame.data?.length ?? 0) > MAX_FRAME_CHARACTERS) throw new RangeError("an event is too long");
    for (const line of lines) {
      if (line !== "") {
        if (line.startsWith(":")) yield undefined;
        else frame = withField(frame, line);
        continue;
      }
      const { data, ...named } = frame;
      frame = {};
      if (data !== undefined) yield { ...named, data };
    }
  }
}

type Frame = { readonly id?: string; readonly event?: string; readonly data?: string };

function withField(frame: Frame, line: string): Frame {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  switch (name) {
    case "id":
      return { ...frame, id: value };
    case "event":
      return { ...frame, event: value };
    case "data":
      return { ...frame, data: frame.data === undefined ? value : `${frame.data}\n${value}` };
    default:
      return frame;
  }
}
