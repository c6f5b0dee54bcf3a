import { sandboxError } from "../errors/sandbox.ts";
import type { ISandboxService } from "../ports/sandbox.ts";

/** The sandbox as one call sees it: what runs there ends when the call does. */
export function sandboxUntil(sandbox: ISandboxService, callSignal: () => AbortSignal): ISandboxService {
  return {
    execute: (request, { signal } = {}) => {
      const signals = signal === undefined ? [callSignal()] : [callSignal(), signal];
      return sandbox.execute(request, { signal: AbortSignal.any(signals) });
    },
  };
}

export const noSandbox: ISandboxService = {
  execute: () =>
    Promise.reject(
      sandboxError("sandbox_unavailable", "No sandbox was given to the gate: pass one to createToolGate."),
    ),
};
