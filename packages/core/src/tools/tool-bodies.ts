import { registryError } from "../errors/registry.ts";
import { isErgonError } from "../errors/ergon-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { MaybePromise, Tool, ToolBody } from "./tool.ts";

/** A tool's code that has not loaded after this long will not. */
export const MAX_LOAD_MS = 30_000;

export type ToolBodies = {
  /** At once for a tool that was loaded before; throws or rejects with `capability_broken` or `schema_invalid`. */
  readonly bodyOf: (tool: Tool) => MaybePromise<ToolBody>;
};

/** Loads each tool's code once, however many calls wait for it. What failed to load is tried again at the next call. */
export function createToolBodies(clock: Clock): ToolBodies {
  const loaded = new WeakMap<Tool, ToolBody>();
  const loading = new WeakMap<Tool, Promise<ToolBody>>();
  return {
    bodyOf(tool) {
      const known = loaded.get(tool) ?? loading.get(tool);
      if (known !== undefined) return known;
      const body = start(tool);
      if (isBody(body)) {
        loaded.set(tool, body);
        return body;
      }
      const settled = withinTime(tool, Promise.resolve(body)).then(
        (ready) => {
          loading.delete(tool);
          if (!isBody(ready))
            throw registryError("capability_broken", `The code of "${tool.id}" is no body of a tool.`);
          loaded.set(tool, ready);
          return ready;
        },
        (thrown: unknown) => {
          loading.delete(tool);
          throw broken(tool, thrown);
        },
      );
      loading.set(tool, settled);
      return settled;
    },
  };

  function start(tool: Tool): MaybePromise<ToolBody> {
    try {
      return tool.body();
    } catch (thrown) {
      throw broken(tool, thrown);
    }
  }

  function withinTime(tool: Tool, body: Promise<ToolBody>): Promise<ToolBody> {
    return new Promise((resolve, reject) => {
      const stop = clock.after(MAX_LOAD_MS, () => {
        reject(
          registryError(
            "capability_broken",
            `The code of "${tool.id}" did not load within ${String(MAX_LOAD_MS / 1000)} s.`,
          ),
        );
      });
      body.then(resolve, reject).finally(stop);
    });
  }
}

/** Told apart from a promise by what it has: promises of another realm are no instances of ours. */
function isBody(body: unknown): body is ToolBody {
  return typeof body === "object" && body !== null && "validateArgs" in body && "run" in body;
}

function broken(tool: Tool, thrown: unknown): Error {
  if (isErgonError(thrown)) return thrown;
  const reason = thrown instanceof Error ? thrown.message : "it threw a value that is no Error";
  return registryError("capability_broken", `The code of "${tool.id}" could not be loaded: ${reason}`, {
    cause: thrown,
  });
}
