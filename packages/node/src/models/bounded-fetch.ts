import { modelError } from "@ergon/core/schema";

/** No answer of a model is larger; one that goes on past it is given up. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** A fetch whose answers end: a service that sends without end is cut off. */
export function boundedFetch(
  fetchImpl: typeof globalThis.fetch = globalThis.fetch,
  maxBytes: number = MAX_RESPONSE_BYTES,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetchImpl(input, init);
    if (response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          bytes += chunk.byteLength;
          if (bytes <= maxBytes) controller.enqueue(chunk);
          else controller.error(endless(maxBytes));
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}

function endless(maxBytes: number): Error {
  return modelError(
    "model_answer_invalid",
    `The model's answer went on past ${String(maxBytes)} bytes and was given up.`,
  );
}
