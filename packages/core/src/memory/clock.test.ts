import { clockContract } from "../../testing/clock.contract.ts";
import { createSystemClock } from "./clock.ts";

clockContract("the system's", () => {
  const clock = createSystemClock();
  return { clock, pass: (ms) => clock.sleep(ms) };
});
