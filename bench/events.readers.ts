// node events.readers.ts URL TOKEN COUNT: follows /events over so many connections, and answers each line of stdin with how many
// events they have had so far: the fewest and the most.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [url = "", token = "", count = "0"] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);
const seen: number[] = [];
/** One in each event, and whole in one write of the server. */
const MARK = "\nevent: ";
await Promise.all(
  Array.from({ length: Number(count) }, async (_, n) => {
    seen[n] = 0;
    const socket = connect(Number(port), hostname);
    let end = Buffer.alloc(0);
    await new Promise<void>((begun) => {
      socket.on("data", (chunk: Buffer) => {
        begun();
        const text = Buffer.concat([end, chunk]);
        for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) seen[n] = (seen[n] ?? 0) + 1;
        end = text.subarray(-(MARK.length - 1));
      });
      socket.write(`GET /events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
    });
  }),
);
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(`${String(Math.min(...seen))} ${String(Math.max(...seen))}`);
}
process.exit(0);
