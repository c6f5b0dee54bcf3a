import type { Port, WasmModule } from "./deno-types.ts";

// What the service, the keeper and the realm say to each other. Lines of JSON between processes, messages between isolates.

/** The first line to a keeper. */
export type BootOrder = {
  readonly token: string;
  /** The address of the realm's module. */
  readonly realm: string;
  /** Files of the python runtime; absent for javascript. */
  readonly python?: { readonly pyodide: string; readonly runCode: string; readonly snapshot?: string };
  /** Answer with the memory of a runtime that has just started, instead of running something. */
  readonly makeSnapshot?: boolean;
};

/** The second and last line. `inputs` is JSON text. */
export type ExecuteOrder = { readonly code: string; readonly inputs: string; readonly memoryBytes: number };

/** Each begins with the token on the wire. */
export type KeeperLine =
  | { readonly kind: "ready" }
  | { readonly kind: "snapshot"; readonly part: string }
  | { readonly kind: "memory" }
  | { readonly kind: "done"; readonly json: string }
  | { readonly kind: "failed"; readonly error: string };

export type RealmBoot = {
  readonly port: Port;
  readonly python?: {
    readonly wasm: WasmModule;
    readonly stdlib: Uint8Array;
    readonly loader: string;
    readonly glue: string;
    readonly lock: string;
    readonly run: string;
    readonly memory?: Uint8Array;
  };
};

export type RealmOutcome =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly error: string };
