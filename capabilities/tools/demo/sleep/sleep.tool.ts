import type { ToolDefinition, ToolRun } from "@ergon/core";

const MAX_SLEEP_MS = 600_000;
const REPORTS = 20;

export const definition: ToolDefinition = {
  id: "demo::sleep",
  title: "Sleep",
  description: "Waits for a while, reports how far it is, and wakes at once when it is cancelled.",
  parameters: {
    type: "object",
    properties: {
      ms: { type: "integer", minimum: 0, maximum: MAX_SLEEP_MS, description: "How long, in milliseconds" },
    },
    required: ["ms"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { sleptMs: { type: "integer", minimum: 0 } }, required: ["sleptMs"] },
  effects: "pure",
  timeoutMs: MAX_SLEEP_MS + 10_000,
  tags: ["demo"],
};

export async function implementation(
  { ms }: { ms: number },
  { signal, progress }: ToolRun,
): Promise<{ sleptMs: number }> {
  for (let report = 0; report < REPORTS; report += 1) {
    progress({ fraction: report / REPORTS, message: `slept ${Math.round((ms * report) / REPORTS)} of ${ms} ms` });
    await pause(ms / REPORTS, signal);
  }
  return { sleptMs: ms };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const wake = () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error("The sleep was cancelled."));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", wake);
      resolve();
    }, ms);
    signal.addEventListener("abort", wake, { once: true });
  });
}
