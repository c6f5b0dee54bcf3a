import type { ProgressUpdate } from "@ergon/core/schema";
import { oneLine } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const SHOW_AFTER_MS = 1_000;
const REFRESH_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export type ProgressLine = { readonly update: (progress: ProgressUpdate) => void; readonly stop: () => void };

/** One changing line on a screen for work that takes more than a second; nothing anywhere else. */
export function startProgressLine(terminal: Terminal, label: string): ProgressLine {
  if (!terminal.canShowProgress || terminal.json) return { update: () => undefined, stop: () => undefined };
  const startedAt = performance.now();
  let latest: ProgressUpdate = {};
  let shown = false;
  let frame = 0;
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < SHOW_AFTER_MS) return;
    shown = true;
    frame = (frame + 1) % FRAMES.length;
    terminal.status(`${FRAMES[frame]} ${describe(label, latest, elapsedMs)}`);
  }, REFRESH_MS);
  timer.unref();
  return {
    update: (progress) => {
      latest = progress;
    },
    stop: () => {
      clearInterval(timer);
      if (shown) terminal.status("");
    },
  };
}

function describe(label: string, { fraction, message }: ProgressUpdate, elapsedMs: number): string {
  const seconds = `${Math.floor(elapsedMs / 1000)} s`;
  const percent = fraction === undefined ? "" : ` ${Math.round(Math.min(1, Math.max(0, fraction)) * 100)} %`;
  return `${label}${percent} (${seconds})${message === undefined ? "" : ` ${oneLine(message)}`}`;
}
