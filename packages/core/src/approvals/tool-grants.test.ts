import { describe, expect, it } from "vitest";
import { createMemoryApprovalStore } from "../memory/approval-store.ts";
import type { ToolGrant } from "../schema/approval.ts";
import { createToolGrants, MAX_KNOWN_GRANTS } from "./tool-grants.ts";

const grant = (toolId: string): ToolGrant => ({
  toolId,
  fingerprint: "f",
  identity: { name: toolId, description: "", inputSchema: {}, server: {} },
  grantedAt: "t",
  grantedBy: "ada",
});

describe("grants", () => {
  it("are read from the store once, and found at once from then on", async () => {
    const store = createMemoryApprovalStore();
    await store.putGrant(grant("a"));
    let reads = 0;
    const grants = createToolGrants();
    expect(grants.read("a")).toBeUndefined();
    grants.keepIn({
      ...store,
      readGrant: (toolId) => {
        reads += 1;
        return store.readGrant(toolId);
      },
    });
    expect(await grants.read("a")).toEqual(grant("a"));
    expect(grants.read("a")).toEqual(grant("a"));
    expect(await grants.read("b")).toBeUndefined();
    expect(grants.read("b")).toBeUndefined();
    expect(reads).toBe(2);
  });

  it("are kept in the store beyond those that fit in memory", async () => {
    const store = createMemoryApprovalStore();
    const grants = createToolGrants();
    grants.keepIn(store);
    for (let n = 0; n <= MAX_KNOWN_GRANTS; n += 1) await grants.put(grant(`t${String(n)}`));
    expect(await grants.read("t0")).toEqual(grant("t0"));
    expect(await grants.read(`t${String(MAX_KNOWN_GRANTS)}`)).toEqual(grant(`t${String(MAX_KNOWN_GRANTS)}`));
  });
});
