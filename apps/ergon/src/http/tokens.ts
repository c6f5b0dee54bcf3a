import { type TokenStore, TokenInfo, TokenName, TokenScope } from "@ergon/node";
import { accessError } from "@ergon/core/schema";
import { z } from "zod";
import { route, type Route } from "./server/route.ts";

const noToken = ({ name = "" }: Readonly<Record<string, string>>): Error =>
  accessError("token_not_found", `No token "${name}".`);

export function tokenRoutes(tokens: TokenStore): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/tokens",
      operationId: "listTokens",
      summary: "The tokens that you made; with the first token, all",
      access: "person",
      answers: { 200: { description: "Names and scopes", schema: z.object({ items: z.array(TokenInfo) }) } },
      handle: (_, { principal }) => ({ status: 200, body: { items: tokens.list(principal) } }),
    }),
    route({
      method: "POST",
      path: "/tokens",
      operationId: "addToken",
      summary: "Make a token for another principal",
      access: "person",
      body: z.strictObject({ name: TokenName, scope: TokenScope.default("agent") }),
      answers: {
        201: { description: "The token, shown this once", schema: TokenInfo.extend({ token: z.string() }) },
      },
      handle: async ({ body }, { principal }) => {
        const { token, info } = await tokens.add({ ...body, by: principal });
        return { status: 201, headers: { location: `/tokens/${info.name}` }, body: { ...info, token } };
      },
    }),
    route({
      method: "DELETE",
      path: "/tokens/:name",
      operationId: "revokeToken",
      summary: "Revoke a token; its streams end too",
      access: "person",
      params: z.object({ name: TokenName }),
      unknown: noToken,
      answers: { 200: { description: "Revoked", schema: z.object({ revoked: TokenName }) } },
      handle: async ({ params }, { principal }) => {
        await tokens.revoke(params.name, principal);
        return { status: 200, body: { revoked: params.name } };
      },
    }),
  ];
}
