// A Fastify server with one route and nothing else: what can be had on this machine. Says its address on stdout.
import { fastify } from "fastify";

const answer = JSON.parse(process.argv[2] ?? "{}") as unknown;
const app = fastify();
app.get("/bare/:id", async () => answer);
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
