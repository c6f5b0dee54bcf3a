import { engineContract } from "../../../testing/contracts/engine.contract.ts";

engineContract("embedded, in this process", async ({ engine }) => ({ engine, close: async () => undefined }));
