// Starts a run and stays; prints the run's id.
import { openErgon } from "ergon";
import { shop } from "./shop.ts";

const ergon = await openErgon({ data: process.argv[2] ?? "", ...shop });
const run = await ergon.run("checkout", { order: "A-1", cents: 990 });
console.log(run.id);
