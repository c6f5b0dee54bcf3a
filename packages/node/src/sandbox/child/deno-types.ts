// The little of Deno and of the web that the runtime uses; their types are not among Node's.

export type Port = {
  postMessage(message: unknown): void;
  start(): void;
  addEventListener(
    type: "message",
    listener: (event: { readonly data: unknown }) => void,
    options?: { readonly once: true },
  ): void;
};

export type DenoWorker = {
  postMessage(message: unknown, transfer: readonly object[]): void;
  terminate(): void;
  addEventListener(type: "error", listener: (event: { message: string; preventDefault(): void }) => void): void;
};

export type WasmModule = { readonly wasmModule: never };

type DenoApi = {
  readonly stdin: { readonly readable: AsyncIterable<Uint8Array> };
  readonly stdout: { writeSync(bytes: Uint8Array): number };
  readonly stderr: { writeSync(bytes: Uint8Array): number };
  readFile(path: string): Promise<Uint8Array>;
  readTextFile(path: string | URL): Promise<string>;
  memoryUsage(): { readonly rss: number };
  exit(code: number): never;
};

type WasmApi = {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(module: WasmModule, imports: unknown): Promise<unknown>;
  instantiateStreaming: (source: unknown, imports: unknown) => Promise<unknown>;
};

type WorkerOptions = { readonly type: "module"; readonly deno: { readonly permissions: "none" } };

const globals = globalThis as unknown as {
  readonly Deno: DenoApi;
  readonly WebAssembly: WasmApi;
  readonly Worker: new (url: string, options: WorkerOptions) => DenoWorker;
  readonly MessageChannel: new () => { readonly port1: Port; readonly port2: Port };
};

export const { Deno, MessageChannel, WebAssembly, Worker } = globals;

/** What a worker hears from whoever made it. */
export const ownPort = globalThis as unknown as Pick<Port, "addEventListener">;
