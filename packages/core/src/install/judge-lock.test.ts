import { describe, expect, it } from "vitest";
import { dependenciesOf, judgeLock, MAX_DEPENDENCIES, type PackageLock } from "./judge-lock.ts";

const REGISTRY = "https://npm.example.org";
const sound = (name: string) => ({ version: "1.0.0", resolved: `${REGISTRY}/${name}.tgz`, integrity: "sha512-x" });
const lockOf = (packages: PackageLock["packages"]): PackageLock => ({
  packages: { "": {}, "node_modules/main": sound("main"), ...packages },
});
const codes = (packages: PackageLock["packages"]): readonly string[] =>
  judgeLock(lockOf(packages), [REGISTRY]).map(({ code }) => code);

describe("a lock", () => {
  it("passes when everything comes from the registry with its sha512", () => {
    const packages = {
      "node_modules/a": sound("a"),
      "node_modules/a/node_modules/@b/c": sound("c"),
      "node_modules/a/node_modules/bundled": { version: "1.0.0", inBundle: true },
    };
    expect(codes(packages)).toEqual([]);
    expect(dependenciesOf(lockOf(packages))).toBe(3);
  });

  it.each([
    ["a web address", { resolved: "http://127.0.0.1:80/x.tgz" }, "dependency_source"],
    ["the registry's name on another port", { resolved: `${REGISTRY}:8443/x.tgz` }, "dependency_source"],
    ["the registry without encryption", { resolved: "http://npm.example.org/x.tgz" }, "dependency_source"],
    ["a git repository", { resolved: "git+ssh://git@example.org/x.git#abc" }, "dependency_source"],
    ["a file", { resolved: "file:../x.tgz" }, "dependency_source"],
    ["a folder", { resolved: "../../x", link: true }, "dependency_source"],
    ["a folder that claims to be bundled", { resolved: "../../x", link: true, inBundle: true }, "dependency_source"],
    ["nowhere", { resolved: undefined }, "dependency_source"],
    ["the registry with a sha1 only", { integrity: "sha1-x" }, "dependency_unchecked"],
    ["the registry with no hash", { integrity: undefined }, "dependency_unchecked"],
  ])("is refused when a dependency comes from %s", (_, changes, code) => {
    const changed = Object.fromEntries(
      Object.entries({ ...sound("x"), ...changes }).filter(([, value]) => value !== undefined),
    );
    expect(codes({ "node_modules/x": changed })).toEqual([code]);
  });

  it("is refused when it places a package outside of node_modules", () => {
    expect(codes({ "../x": sound("x") })).toEqual(["dependency_source"]);
  });

  it("has a bounded number of dependencies", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`node_modules/d${String(n)}`, sound("d")]));
    expect(codes(many(MAX_DEPENDENCIES))).toEqual([]);
    expect(codes(many(MAX_DEPENDENCIES + 1))).toEqual(["too_many_dependencies"]);
  });
});
