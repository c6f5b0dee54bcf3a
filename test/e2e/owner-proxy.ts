import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { homeOf, readFolderId, stateFolder } from "@ergon/node";

/** Moments of a request: nothing of its body was taken, it was not passed on, it was carried out, it was answered. */
export type Moment = "unread" | "untold" | "unanswered" | "answered";

export type OwnerProxy = {
  /** What came for the owner, as `POST /sessions/ses_1/resume`. */
  readonly requests: readonly string[];
  /** At that moment of the first request of this kind `act` runs, and from then on the owner cannot be reached. */
  readonly breakAt: (moment: Moment, kind: RegExp, act: () => Promise<void>) => void;
  readonly close: () => void;
};

/** Stands between the owner of a data folder and those that come from now on. */
export async function createOwnerProxy(data: string): Promise<OwnerProxy> {
  const file = join(homeOf(stateFolder(process.env), readFolderId(data) ?? ""), "owner.json");
  const access = JSON.parse(readFileSync(file, "utf8")) as { readonly url: string };
  const requests: string[] = [];
  let plan: { readonly moment: Moment; readonly kind: RegExp; readonly act: () => Promise<void> } | undefined;

  const reaches = async (moment: Moment, line: string): Promise<boolean> => {
    if (plan?.moment !== moment || !plan.kind.test(line)) return false;
    const { act } = plan;
    plan = undefined;
    server.close();
    await act();
    server.closeAllConnections();
    return true;
  };
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse, expects: boolean): Promise<void> => {
    const { method = "", url = "", headers } = incoming;
    const line = `${method} ${url}`;
    requests.push(line);
    if (await reaches("unread", line)) return;
    if (expects) outgoing.writeContinue();
    const body = await buffer(incoming);
    if (await reaches("untold", line)) return;
    const { expect: _expect, ...rest } = headers;
    const asking = request(new URL(url, access.url), { method, headers: rest }).end(body);
    asking.on("error", () => outgoing.destroy());
    outgoing.on("close", () => asking.destroy());
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    if (await reaches("unanswered", line)) return;
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers).flushHeaders();
    outgoing.on("finish", () => void reaches("answered", line));
    answer.on("error", () => outgoing.destroy()).pipe(outgoing);
  };
  const passOn = (expects: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    pass(incoming, outgoing, expects).catch(() => outgoing.destroy());
  };
  const server = createServer(passOn(false)).on("checkContinue", passOn(true));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  writeFileSync(file, JSON.stringify({ ...access, url: `http://127.0.0.1:${String(port)}` }), { mode: 0o600 });
  return {
    requests,
    breakAt: (moment, kind, act) => (plan = { moment, kind, act }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
