import { describe, expect, it } from "vitest";
import { withoutServer, withServer } from "./edit-servers.ts";
import { readServers } from "./read-servers.ts";

const FILE = `// ours
{
  "servers": [ // all of them
    // about mem
    /* and more
       about mem */
    { "id": "mem", "command": "mem" }, // tail mem
    // about fs
    { "id": "fs", "command": "fs",
      "args": [] // none
    }, /* tail fs */

    // about nobody

    // about web
    { "id": "web", "url": "https://example.org" } // tail web
    // the end
  ], // after
  "toolApprovalRequired": true
}
`;
const lines = (text: string) => text.split("\n");
const without = (id: string, gone: readonly number[]) => [
  withoutServer(FILE, id),
  lines(FILE)
    .filter((_, at) => !gone.includes(at))
    .join("\n"),
];
const added = { id: "new", name: "new", command: "new", enabled: true };

describe("taking a server out", () => {
  it("takes its own comments along, above it and behind it, and leaves every other byte", () => {
    const [mem, memGone] = without("mem", [3, 4, 5, 6]);
    expect(mem).toBe(memGone);
    const [fs, fsGone] = without("fs", [7, 8, 9, 10]);
    expect(fs).toBe(fsGone);
  });

  it("takes the comma before the last one, and no comment of its neighbour", () => {
    const [web, webGone] = without("web", [14, 15]);
    expect(web).toBe(webGone?.replace("}, /* tail fs */", "} /* tail fs */"));
  });

  it.each([
    ['{"servers":[{"id":"a","command":"a"},{"id":"b","command":"b"}]}', "a", '{"servers":[{"id":"b","command":"b"}]}'],
    ['{"servers":[{"id":"a","command":"a"},{"id":"b","command":"b"}]}', "b", '{"servers":[{"id":"a","command":"a"}]}'],
    [
      '{"servers": [{"id":"a","command":"a"}, {"id":"b","command":"b"}]}',
      "b",
      '{"servers": [{"id":"a","command":"a"}]}',
    ],
    ['{"servers": [ {"id":"a","command":"a"} ]}', "a", '{"servers": [ ]}'],
    [
      '{"servers": [\r\n  {"id":"a","command":"a"},\r\n  {"id":"b","command":"b"},\r\n]}',
      "b",
      '{"servers": [\r\n  {"id":"a","command":"a"},\r\n]}',
    ],
    [
      '{"servers": [\n  {"id":"a","command":"a"}\n  , {"id":"b","command":"b"}\n]}',
      "a",
      '{"servers": [\n   {"id":"b","command":"b"}\n]}',
    ],
  ])("works however the file is laid out: %j without %s", (text, id, left) => {
    expect(withoutServer(text, id)).toBe(left);
    expect(readServers(left).problems).toEqual([]);
  });
});

describe("adding a server", () => {
  it("leaves the comment behind the last one where it is, and every other byte", () => {
    const file = withServer(FILE, added);
    const [before = "", rest = ""] = file.split(" // tail web");
    expect(before).toBe(`${FILE.split(" // tail web")[0] ?? ""},`);
    expect(rest).toBe(
      `\n    {\n      "id": "new",\n      "name": "new",\n      "command": "new",\n      "enabled": true\n    }${FILE.split(" // tail web")[1] ?? ""}`,
    );
    expect(readServers(file)).toMatchObject({ problems: [], servers: [{}, {}, {}, { id: "new" }] });
    expect(withoutServer(file, "new")).toBe(FILE);
  });

  it.each([
    "",
    "{}",
    '{ "servers": [] }',
    '{ "servers": [\n  // none yet\n] }',
    '{"servers":[{"id":"a","command":"a"}]}',
    '{"servers":[{"id":"a","command":"a"},]}',
    '{"servers": [\n  {"id":"a","command":"a"}, // a\n  // end\n]}',
    '{"servers": [\r\n  {"id":"a","command":"a"} // a\r\n]}',
    '{"servers": [\n  {"id":"a","command":"a"}\n  , // late\n]}',
  ])("works however the file is laid out: %j", (text) => {
    const file = withServer(text, added);
    expect(readServers(file).problems).toEqual([]);
    expect(readServers(file).servers.at(-1)).toEqual(added);
    for (const [comment] of text.matchAll(/\/\/.*/g)) expect(file).toContain(comment);
    expect(readServers(withoutServer(file, "new"))).toEqual(
      readServers(text.trim() === "" || text === "{}" ? '{"servers":[]}' : text),
    );
  });
});
