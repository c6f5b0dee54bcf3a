import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { createIds } from "@ergon/core/store-kit";
import { createCostModel, createToolGate, createToolGrants } from "@ergon/core/engine";
import { readSettings } from "@ergon/node";
import { describe, expect, it } from "vitest";
import { chooseModels } from "../services/choose-models.ts";
import type { OpenedData } from "../workspace/opened-data.ts";
import { openWorkspace } from "./open-workspace.ts";
import type { WorkspaceParts } from "../workspace/workspace.ts";

const listen = { host: "127.0.0.1", port: 0, allowedHosts: [] };

describe("a folder that another process owns", () => {
  it("is entered through its owner, as soon as that says where it listens", async () => {
    const answers = [owned(), owned(), owned({ url: "http://127.0.0.1:9", token: "t" })];
    const workspace = await openWorkspace(
      parts(() => answers.shift()),
      { recover: true },
    );
    expect(workspace).toMatchObject({ isOwner: false, url: "http://127.0.0.1:9" });
    expect(answers).toEqual([]);
  });

  it("is not waited for without end", async () => {
    let asked = 0;
    const never = parts(() => {
      asked += 1;
      return owned();
    });
    const refused = { code: "folder_owned", details: { pid: 7 } };
    await expect(openWorkspace({ ...never, patienceMs: 120 }, { recover: true })).rejects.toMatchObject(refused);
    expect(asked).toBeGreaterThan(1);
    await expect(openWorkspace({ ...never, patienceMs: 120 }, { recover: true, listen })).rejects.toMatchObject(
      refused,
    );
  });

  it("is not waited for by a program that ends", async () => {
    const closing = new AbortController();
    const waiting = openWorkspace({ ...parts(() => owned()), closing: closing.signal }, { recover: true });
    closing.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  });

  it("cannot be served by a second process, which is told at once", async () => {
    const told = parts(() => owned({ url: "http://127.0.0.1:9", token: "t" }));
    const message = expect.stringContaining("owned by pid 7 at http://127.0.0.1:9") as unknown;
    await expect(openWorkspace(told, { recover: true, listen })).rejects.toMatchObject({
      code: "folder_owned",
      message,
    });
  });
});

function owned(where: { readonly url?: string; readonly token?: string } = {}): OpenedData {
  return { kind: "owned", owner: { kind: "owned", pid: 7, ...where } };
}

function parts(open: () => OpenedData | undefined): WorkspaceParts {
  const clock = createSystemClock();
  const registry = new ToolRegistry();
  const { values } = readSettings({ flags: {}, env: {}, cwd: "/nowhere" });
  return {
    values,
    version: "0",
    entry: "/nowhere/cli.js",
    registry,
    asking: { grants: createToolGrants(), follow: () => undefined },
    gate: createToolGate({ registry, clock, logger: silentLogger }),
    models: chooseModels(values, clock),
    plans: { get: () => undefined, ids: () => [], all: [], problems: [] },
    clock,
    ids: createIds({ clock }),
    logger: silentLogger,
    stopping: new AbortController().signal,
    note: () => undefined,
    closing: new AbortController().signal,
    fatal: () => undefined,
    hub: {
      config: { path: values.mcpConfig, isNamed: false },
      environment: {},
      costs: createCostModel(),
      onLearned: () => undefined,
    },
    open: async () => open() ?? owned(),
  };
}
