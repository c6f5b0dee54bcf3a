/*
 * Requests that their sender gave a key, so that sending one again does nothing twice. Every key is somebody's (`owner`).
 *
 * K1  `begin` is atomic: of several requests with one key, one begins, and the others see it.
 * K2  Two owners may have the same key; neither sees the other's.
 * K3  A key that is older than `since` is free again. Each owner keeps the newest `MAX_REQUEST_KEYS`.
 * K4  What was begun, and each kept answer, survives SIGKILL at any moment.
 */
export type RequestKeyStore = {
  /** Gives the request that has this key, or keeps this one and gives it back. */
  begin(request: NewRequest & { readonly since: string }): Promise<KeyedRequest>;
  /** Keeps the answer; nothing when the key was forgotten meanwhile. */
  finish(ref: RequestKey, answer: string): Promise<void>;
  /** The key is free again. */
  forget(ref: RequestKey): Promise<void>;
  close(): Promise<void>;
};

export type RequestKey = { readonly owner: string; readonly key: string };

/** `fingerprint`: what was asked. `startId`: names what the request starts. */
export type NewRequest = RequestKey & { readonly fingerprint: string; readonly startId: string; readonly at: string };

/** Without an answer: it is under way, or its process died before it could answer. */
export type KeyedRequest = Pick<NewRequest, "fingerprint" | "startId"> & { readonly answer?: string };

export const MAX_REQUEST_KEYS = 10_000;
