// The import directions of the design. A folder of core sees only the folders before it in this list.
const coreFolders = [
  "schema",
  "errors",
  "ports",
  "store-kit",
  "memory",
  "energy",
  "tools",
  "refinement",
  "plans",
  "planner",
  "approvals",
  "hub",
  "install",
  "conversation",
];
const tests = "\\.test\\.ts$";
const defaultPlanner = "^packages/core/src/planner/default-planner\\.ts$";
/** Packs run on real databases only in their tests. */
const packTests = "^capabilities/.*\\.(test|fixture)\\.ts$";

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const coreOrder = coreFolders.map((folder, index) => ({
  name: `core-${folder}-sees-only-folders-before-it`,
  severity: "error",
  from: { path: `^packages/core/src/${folder}/` },
  to: {
    path: `^packages/core/src/(${[...coreFolders.slice(index + 1).map((later) => `${later}/`), "[^/]+\\.ts$"].join("|")})`,
  },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...coreOrder,
    {
      name: "core-has-only-folders-of-the-design",
      severity: "error",
      from: {},
      to: { path: "^packages/core/src/[^/]+/", pathNot: `^packages/core/src/(${coreFolders.join("|")})/` },
    },
    {
      name: "core-sees-no-one-else",
      severity: "error",
      from: { path: "^packages/core/", pathNot: defaultPlanner },
      to: { path: "^(packages/(?!core/)|apps|capabilities|examples|scripts|test|bench)/?" },
    },
    {
      name: "default-planner-sees-core-and-the-offline-planner",
      severity: "error",
      from: { path: defaultPlanner },
      to: {
        path: "^(packages/(?!core/|offline-planner/src/index\\.ts$)|apps|capabilities|examples|scripts|test|bench)/?",
      },
    },
    {
      name: "offline-planner-sees-core-by-type-only",
      severity: "error",
      from: { path: "^packages/offline-planner/", pathNot: tests },
      to: { path: "^packages/core/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "offline-planner-sees-the-entry-of-core",
      severity: "error",
      from: { path: "^packages/offline-planner/" },
      to: {
        path: "^(packages/(?!offline-planner/)|apps|capabilities|examples|scripts|test|bench)/?",
        pathNot: "^packages/core/src/[^/]+\\.ts$",
      },
    },
    {
      name: "only-core-sees-the-offline-planner",
      severity: "error",
      from: { pathNot: "^packages/(core|offline-planner)/" },
      to: { path: "^packages/offline-planner/" },
    },
    {
      name: "core-has-no-node-import",
      severity: "error",
      from: { path: "^packages/(core|offline-planner)/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "core-sources-see-no-test-code",
      severity: "error",
      from: { path: "^packages/core/src/", pathNot: tests },
      to: { path: "^packages/core/testing/" },
    },
    {
      name: "node-sees-core-by-its-entry",
      severity: "error",
      from: { path: "^packages/node/" },
      to: { path: "^packages/core/", pathNot: "^packages/core/(src/[^/]+|testing/(index|contracts))\\.ts$" },
    },
    {
      name: "node-sees-no-app",
      severity: "error",
      from: { path: "^packages/node/" },
      to: { path: "^(apps|capabilities|examples|scripts|test|bench)/" },
    },
    {
      name: "optional-packages-see-no-one-else",
      severity: "error",
      from: { path: "^packages/(encoder|models|quick-data|sandbox|talent)/" },
      to: { path: "^(packages/(core|node)|apps|capabilities|examples|scripts|test|bench)/" },
    },
    {
      name: "apps-see-packages-by-their-entry",
      severity: "error",
      from: { path: "^apps/" },
      to: {
        path: "^packages/",
        pathNot: "^packages/(core/(src/[^/]+|testing/(index|contracts))|node/src/index)\\.ts$",
      },
    },
    {
      name: "apps-see-no-other-root-folder",
      severity: "error",
      from: { path: "^apps/" },
      to: { path: "^(capabilities|examples|scripts|test|bench)/" },
    },
    {
      name: "packs-see-only-the-entry-of-core",
      severity: "error",
      from: { path: "^capabilities/", pathNot: packTests },
      to: {
        path: "^(packages|apps|examples|scripts|test|bench)/",
        pathNot: "^packages/(core/(src/[^/]+|testing/(index|contracts))|quick-data/src/index)\\.ts$",
      },
    },
    {
      name: "tests-of-packs-see-only-entries",
      severity: "error",
      from: { path: packTests },
      to: {
        path: "^(packages|apps|examples|scripts|test|bench)/",
        pathNot: "^packages/(core/(src/[^/]+|testing/(index|contracts))|(node|quick-data)/src/index)\\.ts$",
      },
    },
    {
      name: "testing-is-for-tests",
      severity: "error",
      from: { path: "^(packages/node|apps|capabilities)/", pathNot: [tests, "\\.fixture\\.ts$"] },
      to: { path: "^packages/core/testing/" },
    },
    {
      name: "compose-is-for-entry-points",
      severity: "error",
      from: { pathNot: "^apps/[^/]+/src/([^/]+\\.ts$|compose/)" },
      to: { path: "^apps/[^/]+/src/compose/" },
    },
    {
      name: "packages-are-imported-by-name",
      severity: "error",
      from: { path: "^(packages|apps|capabilities)/([^/]+)/" },
      to: {
        path: "^packages/",
        pathNot: "^packages/$2/",
        dependencyTypes: ["local"],
        dependencyTypesNot: ["localmodule", "aliased-workspace", "aliased"],
      },
    },
    {
      // They are deployed without an install: what they import has to run in Deno, and is named by its place.
      name: "functions-see-core-actions-and-models",
      severity: "error",
      from: { path: "^supabase/" },
      to: {
        path: "^(packages|apps|capabilities|examples|scripts|test|bench)/",
        pathNot:
          "^(packages/core/src/[^/]+\\.ts|packages/models/src/index\\.ts|capabilities/tools/talent/|packages/node/src/models/)",
      },
    },
    {
      name: "nobody-sees-functions",
      severity: "error",
      from: { path: "^(packages|apps|capabilities)/" },
      to: { path: "^supabase/" },
    },
    {
      // The offline planner's types come from core's entry: a circle through that is none at run time.
      name: "no-circle",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { pathNot: "^packages/offline-planner/src/index\\.ts$" } },
    },
    { name: "no-unresolved-import", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(node_modules|dist)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js"],
    },
  },
};
