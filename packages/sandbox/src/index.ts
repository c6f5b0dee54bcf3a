import { fileURLToPath } from "node:url";

// The package.json of each: the sandbox runs files beside it.
export const findDeno = () => fileURLToPath(import.meta.resolve("deno/package.json"));
export const findPyodide = () => fileURLToPath(import.meta.resolve("pyodide/package.json"));
