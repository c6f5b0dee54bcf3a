import { expect, it } from "vitest";
import { logLine } from "./log-line.ts";

it.each([
  [
    '{"level":40,"time":1,"msg":"ConversationService.","file":"/x","place":"1:2"}\n',
    'warning: ConversationService. (file="/x", place="1:2")\n',
  ],
  ['{"level":50,"msg":"It broke.\\u001b[2J"}\n', "error: It broke.\\u001b[2J\n"],
  ['{"level":30,"msg":"Fine."}\n', "log: Fine.\n"],
  ["no JSON\n", "no JSON\n"],
])("shows %j to people as %j", (line, shown) => {
  expect(logLine(line)).toBe(shown);
});
