import { loginStoreContract } from "../../testing/contracts/login-store.contract.ts";
import { createMemoryLoginStore } from "./login-store.ts";

loginStoreContract("in memory", () => ({ logins: createMemoryLoginStore() }));
