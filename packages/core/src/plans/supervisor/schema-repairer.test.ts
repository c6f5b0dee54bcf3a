import { argumentRepairerContract } from "../../../testing/argument-repairer.contract.ts";
import { schemaRepairer } from "./schema-repairer.ts";

argumentRepairerContract("by schema", () => schemaRepairer);
