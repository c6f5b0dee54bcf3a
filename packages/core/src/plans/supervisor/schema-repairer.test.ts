import { argumentRepairerContract } from "../../../testing/contracts/argument-repairer.contract.ts";
import { schemaRepairer } from "./schema-repairer.ts";

argumentRepairerContract("by schema", () => schemaRepairer);
