import { z } from "zod";

/** How Ergon names itself to the authorization server of a remote MCP server, where it has to be told. */
export const OAuthSettings = z.strictObject({
  /** A person logs in, or this program does with a secret or a key of its own. */
  grant: z.enum(["authorization_code", "client_credentials"]).optional(),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** PEM; signs what proves who the client is, in the place of a secret. */
  privateKey: z.string().min(1).optional(),
  algorithm: z.string().min(1).optional(),
  clientMetadataUrl: z.url({ protocol: /^https$/ }).optional(),
  scope: z.string().min(1).optional(),
  /** The only authorization server that the client's id and secret are for. */
  issuer: z.url().optional(),
  redirectPort: z.int().min(1).max(65_535).optional(),
});
export type OAuthSettings = z.infer<typeof OAuthSettings>;

/** What a login at a server left. Whoever holds it is the person to that server. */
export const Login = z.object({
  /** As the authorization server knows Ergon. */
  client: z.looseObject({ client_id: z.string(), issuer: z.string().optional() }).optional(),
  tokens: z
    .looseObject({
      access_token: z.string(),
      token_type: z.string(),
      refresh_token: z.string().optional(),
      scope: z.string().optional(),
      issuer: z.string().optional(),
    })
    .optional(),
  /** What the server asked for beyond what was granted, for the next login. */
  wantedScope: z.string().optional(),
});
export type Login = z.infer<typeof Login>;
