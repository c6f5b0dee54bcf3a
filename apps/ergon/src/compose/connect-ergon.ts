import { createRemoteApprovals, createRemoteEngine, type RemoteTarget } from "@ergon/node";
import { usageError } from "@ergon/core/schema";
import { createErgon, type Ergon } from "../library/ergon.ts";

export type ConnectErgonOptions = { readonly url: string; readonly token: string };

/** The server takes the principal from the token. */
const OWNER = "";

/** Works through the HTTP API of `ergon serve`. Throws `unauthorized`, and `owner_gone` when nothing answers at the address. */
export async function connectErgon({ url, token }: ConnectErgonOptions): Promise<Ergon> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError("input_invalid", `"${url}" is not the address of a server, such as http://127.0.0.1:8000.`);
  }
  const target: RemoteTarget = { url, token, isNamed: true };
  const engine = createRemoteEngine(target);
  await engine.listSessions({ owner: OWNER, limit: 1 });
  return createErgon({
    engine,
    approvals: createRemoteApprovals(target, OWNER),
    owner: OWNER,
    lost: () => undefined,
    close: async () => undefined,
  });
}
