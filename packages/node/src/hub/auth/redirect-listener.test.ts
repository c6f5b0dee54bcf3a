import { afterEach, describe, expect, it } from "vitest";
import { openRedirectListener, type ListenerOptions, type RedirectListener } from "./redirect-listener.ts";

const open: RedirectListener[] = [];
afterEach(() => {
  for (const listener of open.splice(0)) listener.close();
});
const never = new AbortController().signal;

describe("the listener for a browser that comes back", () => {
  it("hands over what the browser brings, and tells the person so", async () => {
    const listener = await opened();
    const came = listener.came(never);
    const answer = await fetch(`${listener.redirectUrl}?state=s&code=c`);
    expect(await answer.text()).toContain("close this page");
    expect([...(await came).entries()]).toEqual([
      ["state", "s"],
      ["code", "c"],
    ]);
  });

  it.each(["/", "/callback", "/callback/other?state=s"])("takes nothing at %s", async (path) => {
    const listener = await opened();
    const answer = await fetch(new URL(path, listener.redirectUrl));
    expect(answer.status).toBe(404);
  });

  it("is on this machine alone", async () => {
    expect(new URL((await opened()).redirectUrl).hostname).toBe("127.0.0.1");
  });

  it("gives up in time, and at once when it is no longer wanted", async () => {
    const listener = await opened({ patienceMs: 20 });
    await expect(listener.came(never)).rejects.toMatchObject({ code: "login_failed" });
    const over = new AbortController();
    const came = (await opened()).came(over.signal);
    over.abort(new Error("enough"));
    await expect(came).rejects.toThrow("enough");
  });

  it("takes the port that it is asked for, or another, unless it must be that one", async () => {
    const first = await opened();
    const port = Number(new URL(first.redirectUrl).port);
    const second = await opened({ port });
    expect(new URL(second.redirectUrl).port).not.toBe(String(port));
    await expect(openRedirectListener({ port, isRequired: true })).rejects.toMatchObject({
      code: "login_failed",
      message: expect.stringContaining(String(port)),
    });
    first.close();
    expect(new URL((await opened({ port })).redirectUrl).port).toBe(String(port));
  });
});

async function opened(options?: ListenerOptions): Promise<RedirectListener> {
  const listener = await openRedirectListener(options);
  open.push(listener);
  return listener;
}
