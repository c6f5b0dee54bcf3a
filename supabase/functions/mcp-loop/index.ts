// Spec 1's loop as a Supabase Edge Function, from the same sources as everywhere else.
import { readSettings } from "./settings.ts";
import { createAdmission } from "./admission.ts";
import { createHandler } from "./handler.ts";

declare const Deno: {
  readonly env: { readonly get: (name: string) => string | undefined };
  readonly serve: (handler: (request: Request) => Promise<Response>) => unknown;
};

const { project, model, embedder, allowedOrigins } = readSettings((name) => Deno.env.get(name));
Deno.serve(createHandler({ admit: createAdmission({ project, model, embedder }), allowedOrigins }));
