import { describe, expect, it } from "vitest";
import type { LoginStore } from "../../src/ports/login-store.ts";
import type { Login } from "../../src/schema/login.ts";

export type OpenedLogins = {
  readonly logins: LoginStore;
  /** The same logins, as another process would open them; absent where they end with the process. */
  readonly reopen?: () => LoginStore;
};

const place = { serverId: "notes", url: "https://notes.example/mcp" };
const login: Login = {
  client: { client_id: "ergon", issuer: "https://login.example" },
  tokens: { access_token: "access", token_type: "Bearer", refresh_token: "refresh", expires_in: 60 },
  wantedScope: "read write",
};

/** What every LoginStore must do. `open` gives a fresh, empty one. */
export function loginStoreContract(name: string, open: () => OpenedLogins): void {
  describe(`the login store contract: ${name}`, () => {
    it("has nothing of a server where nobody logged in", async () => {
      const { logins } = open();
      expect(await logins.read(place)).toBeUndefined();
      expect(await logins.remove(place)).toBe(false);
    });

    it("gives back what was written, whole, also to another process (L2)", async () => {
      const { logins, reopen } = open();
      await logins.write(place, login);
      expect(await logins.read(place)).toEqual(login);
      await logins.write(place, { tokens: { access_token: "next", token_type: "Bearer" } });
      const last = { tokens: { access_token: "next", token_type: "Bearer" } };
      expect(await logins.read(place)).toEqual(last);
      expect(await (reopen?.() ?? logins).read(place)).toEqual(last);
    });

    it("keeps one of two logins that are written at once, and no mixture (L2)", async () => {
      const { logins } = open();
      const other: Login = { tokens: { access_token: "other", token_type: "Bearer" } };
      await Promise.all([logins.write(place, login), logins.write(place, other)]);
      expect([login, other]).toContainEqual(await logins.read(place));
    });

    it.each([
      ["another address", { ...place, url: "https://notes.example/other" }],
      ["another server", { ...place, serverId: "Notes" }],
      ["a server with a path for a name", { serverId: "../notes", url: place.url }],
    ])("keeps the login to its server: %s has none (L1)", async (_, elsewhere) => {
      const { logins } = open();
      await logins.write(place, login);
      expect(await logins.read(elsewhere)).toBeUndefined();
      await logins.write(elsewhere, {});
      expect(await logins.remove(elsewhere)).toBe(true);
      expect(await logins.read(place)).toEqual(login);
    });

    it("forgets a login", async () => {
      const { logins } = open();
      await logins.write(place, login);
      expect(await logins.remove(place)).toBe(true);
      expect(await logins.read(place)).toBeUndefined();
    });
  });
}
