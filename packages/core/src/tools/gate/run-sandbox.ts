import { sandboxError } from "../../errors/sandbox.ts";
import type { ISandboxService } from "../../ports/sandbox.ts";
import type { ToolRun } from "../tool.ts";

/** The sandbox as one call sees it: what runs there ends when the call does, and who waits hears what for. */
export function sandboxOf(sandbox: ISandboxService, run: Pick<ToolRun, "signal" | "progress">): ISandboxService {
  return {
    execute: (request, { signal, onPreparing = () => run.progress({ message: PREPARING }) } = {}) => {
      const signals = signal === undefined ? [run.signal] : [run.signal, signal];
      return sandbox.execute(request, { signal: AbortSignal.any(signals), onPreparing });
    },
  };
}

const PREPARING = "Preparing the sandbox. This takes some seconds, the first time only.";

export const noSandbox: ISandboxService = {
  execute: () =>
    Promise.reject(
      sandboxError("sandbox_unavailable", "No sandbox was given to the gate: pass one to createToolGate."),
    ),
};
