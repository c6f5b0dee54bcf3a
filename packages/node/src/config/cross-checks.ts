import type { SettingProblem } from "./resolved-setting.ts";
import type { SettingValues } from "./settings-table.ts";

/** What is wrong with settings only in company: each is fine alone. */
export function crossChecks(values: SettingValues): SettingProblem[] {
  return [...sandboxProblems(values), ...listeningProblems(values), ...supabaseProblems(values)];
}

function sandboxProblems({ sandboxUrl, sandboxToken }: SettingValues): SettingProblem[] {
  if (sandboxUrl === undefined || sandboxToken !== undefined) return [];
  const message = "ERGON_SANDBOX_URL names a sandbox service, but ERGON_SANDBOX_TOKEN is not set. Set its token too.";
  return [{ severity: "error", setting: "sandboxToken", message }];
}

/** Half of a hosted project is none: the embedded one would answer in its place, unnoticed. */
function supabaseProblems({ supabaseUrl, supabaseServiceRoleKey }: SettingValues): SettingProblem[] {
  if ((supabaseUrl === undefined) === (supabaseServiceRoleKey === undefined)) return [];
  const [set, missing, setting] =
    supabaseUrl === undefined
      ? (["SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_URL", "supabaseUrl"] as const)
      : (["SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY", "supabaseServiceRoleKey"] as const);
  const message = `${set} is set, but ${missing} is not. Set both for a hosted Supabase, or neither for the embedded one.`;
  return [{ severity: "error", setting, message }];
}

function listeningProblems(values: SettingValues): SettingProblem[] {
  if (LOOPBACK.has(values.host)) return [];
  const problems: SettingProblem[] = [];
  const outside = `the server would listen on ${values.host}, which others can reach`;
  if (values.token === undefined) {
    problems.push({
      severity: "error",
      setting: "token",
      message: `ERGON_TOKEN is not set, but ${outside}. Set a token, or listen on 127.0.0.1.`,
    });
  }
  if (values.allowedHosts.length === 0) {
    problems.push({
      severity: "error",
      setting: "allowedHosts",
      message: `ERGON_ALLOWED_HOSTS is not set, but ${outside}. Name the hosts that requests may carry, or listen on 127.0.0.1.`,
    });
  }
  return problems;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1", "[::1]"]);
