import type { Progress, RequestOptions } from "@modelcontextprotocol/client";
import type { McpCall, McpResult } from "@ergon/core/hub";
import type { ServerLink } from "../connection/connect-server.ts";
import type { Asking, Questions } from "./questions.ts";
import type { Sampling } from "./sampling.ts";

/** Progress keeps a call alive; nothing keeps it alive longer than this. */
const MAX_CALL_MS = 3_600_000;

export type SendDeps = {
  readonly questions: Pick<Questions, "during">;
  readonly sampling: Pick<Sampling, "during"> | undefined;
  readonly redactValue: <T>(value: T) => T;
};

export type SentCall = Pick<McpCall, "name" | "args" | "onProgress"> & {
  readonly asking: Asking;
  readonly timeoutMs: number;
  /** Some of its arguments are said in headers, too. */
  readonly inHeaders: boolean;
};

/** Throws whatever the SDK does. */
export async function sendCall(
  { callTool, era }: Pick<ServerLink, "callTool" | "era">,
  { name, args, asking, timeoutMs, onProgress, inHeaders }: SentCall,
  { questions, sampling, redactValue }: SendDeps,
): Promise<McpResult> {
  const { signal } = asking;
  const params = { name, arguments: { ...args } };
  const options: RequestOptions = {
    timeout: timeoutMs,
    maxTotalTimeout: MAX_CALL_MS,
    resetTimeoutOnProgress: true,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined
      ? {}
      : { onprogress: (progress) => onProgress(redactValue(progressUpdate(progress))) }),
  };
  const bare = (given: RequestOptions) => callTool(params, given, inHeaders);
  const call = sampling === undefined ? bare : (given: RequestOptions) => sampling.during(() => bare(given));
  const result = await questions.during(asking, { era, options, call });
  return redactValue({ ...result, isError: result.isError === true });
}

function progressUpdate({ progress, total, message }: Progress): { fraction?: number; message?: string } {
  return {
    ...(total === undefined || total <= 0 ? {} : { fraction: Math.min(1, Math.max(0, progress / total)) }),
    ...(message === undefined ? {} : { message }),
  };
}
