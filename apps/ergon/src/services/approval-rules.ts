import type { Clock } from "@ergon/core";
import type { ApprovalRule } from "@ergon/core/schema";
import {
  createToolGrants,
  createToolPolicy,
  type ServerTrust,
  type ToolGrants,
  type ToolPolicy,
} from "@ergon/core/engine";
import type { Settings } from "@ergon/node";

/** Which calls people are asked about, here and now. */
export type Asking = {
  readonly policy: ToolPolicy;
  readonly grants: ToolGrants;
  /** From now on the servers' configuration has its say too. */
  readonly follow: (configured: ConfiguredAsking) => void;
};

type ConfiguredAsking = {
  readonly server: (serverId: string) => ServerTrust | undefined;
  readonly rules: () => readonly ApprovalRule[];
  /** Undefined where the file does not say. */
  readonly approvalRequired: () => boolean | undefined;
};

export function createAsking(settings: Pick<Settings, "values" | "entries">, clock: Clock): Asking {
  const grants = createToolGrants();
  const { mcpToolApproval } = settings.values;
  const isSet = settings.entries.some(({ name, source }) => name === "mcpToolApproval" && source !== "default");
  let configured: ConfiguredAsking | undefined;
  const policy = createToolPolicy({
    grants,
    clock,
    settings: {
      server: (serverId) => configured?.server(serverId),
      rules: () => configured?.rules() ?? NO_RULES,
      approvalRequired: () => (isSet ? mcpToolApproval : (configured?.approvalRequired() ?? mcpToolApproval)),
    },
  });
  return {
    policy,
    grants,
    follow: (given) => {
      configured = given;
    },
  };
}

const NO_RULES: readonly ApprovalRule[] = [];
