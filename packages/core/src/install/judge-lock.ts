/*
 * Decides whether the packages that an installation would bring may be fetched. Pure, like judge-install: the lock comes in,
 * every objection goes out. What passes is installed exactly as the lock says.
 */
import { z } from "zod";
import { inLine, type Objection } from "./judge-install.ts";

/** What is read of a `package-lock.json`. */
export const PackageLock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      /** It comes inside of the package around it, whose sha512 covers it. */
      inBundle: z.boolean().optional(),
    }),
  ),
});
export type PackageLock = z.infer<typeof PackageLock>;

export const MAX_DEPENDENCIES = 1_000;
const MAX_SHOWN = 10;

/** How many packages the lock brings beside the one that was asked for. */
export function dependenciesOf({ packages }: PackageLock): number {
  return Math.max(0, Object.keys(packages).filter((place) => place !== "").length - 1);
}

/** What speaks against the lock. `registries` are the origins that the user's npm fetches packages from. */
export function judgeLock(lock: PackageLock, registries: readonly string[]): readonly Objection[] {
  const count = dependenciesOf(lock);
  if (count > MAX_DEPENDENCIES) {
    const message = `It brings ${String(count)} dependencies; ${String(MAX_DEPENDENCIES)} at most are installed.`;
    return [{ code: "too_many_dependencies", message }];
  }
  const origins = new Set(registries);
  const objections = Object.entries(lock.packages).flatMap(([place, locked]): readonly Objection[] => {
    const { version = "", resolved, integrity = "", link = false, inBundle = false } = locked;
    if (place === "" || (inBundle && !link)) return [];
    const label = inLine(`${place.split("node_modules/").at(-1) ?? place}@${version}`);
    const origin = resolved !== undefined && URL.canParse(resolved) ? new URL(resolved).origin : "";
    if (link || !place.startsWith("node_modules/") || !origins.has(origin)) {
      const source = inLine(resolved ?? "an unknown place");
      return [
        { code: "dependency_source", message: `The dependency ${label} comes from ${source}, not from the registry.` },
      ];
    }
    if (integrity.startsWith("sha512-")) return [];
    return [{ code: "dependency_unchecked", message: `The registry gives no sha512 of the dependency ${label}.` }];
  });
  return objections.slice(0, MAX_SHOWN);
}
