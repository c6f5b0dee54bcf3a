import { loginStoreContract } from "../../testing/login-store.contract.ts";
import { createMemoryLoginStore } from "./login-store.ts";

loginStoreContract("in memory", () => ({ logins: createMemoryLoginStore() }));
