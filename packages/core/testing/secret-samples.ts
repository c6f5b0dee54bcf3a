/** A made-up credential of each known format, as it stands in a text. What `secret` says must be seen nowhere. */
export type SecretSample = { readonly issuer: string; readonly secret: string; readonly text: string };

const LETTERS = "aZbYcXdWeVfUgThSiRjQkPlOmNnMoLpKqJrIsHtGuFvEwDxCyBzA";
const MIXED = "a7Zb2Yc9Xd4We1Vf8Ug3Th6Si5Rj0Qk";
const HEX = "3f9a1c7e5b0d2864";
const PEM_BODY = `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj${chars(88)}`;
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.${chars(43)}`;

export const SECRET_SAMPLES: readonly SecretSample[] = [
  alone("Ergon", `ergon_${chars(43)}`),
  {
    issuer: "private keys (PEM)",
    secret: PEM_BODY,
    text: `-----BEGIN RSA PRIVATE KEY-----\n${PEM_BODY}\n-----END RSA PRIVATE KEY-----`,
  },
  { issuer: "private keys (PEM)", secret: PEM_BODY, text: `-----BEGIN PRIVATE KEY-----\\n${PEM_BODY}` },
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => alone("GitHub", prefix + chars(36))),
  alone("GitHub", `ghs_12345_${JWT}`),
  alone("GitHub, fine-grained", `github_pat_${chars(22)}_${chars(59)}`),
  ...["glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glagent-"].map((prefix) =>
    alone("GitLab", prefix + chars(20)),
  ),
  alone("AWS, access key id", `AKIA${chars(16).toUpperCase()}`),
  alone("AWS, access key id", `ASIA${chars(16).toUpperCase()}`),
  alone("Slack", "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy"),
  alone("Slack", "xoxp-17653672481-19874698323-19874698324-e0a1b2c3d4e5f60718293a4b5c6d7e8f"),
  alone("Slack", `xapp-1-A0123456789-1234567890123-${chars(40)}`),
  {
    issuer: "Slack, webhook",
    secret: `B0123ABCD/${chars(24)}`,
    text: `https://hooks.slack.com/services/T0123ABCD/B0123ABCD/${chars(24)}`,
  },
  alone("JSON Web Token", JWT),
  alone("Google, API key", `AIza${chars(35)}`),
  alone("Google, OAuth", `ya29.${chars(60)}`),
  alone("Google, OAuth", `GOCSPX-${chars(28)}`),
  alone("npm", `npm_${chars(36)}`),
  alone("PyPI", `pypi-AgEIcHlwaS5vcmc${chars(60)}`),
  alone("OpenAI, Anthropic and others", `sk-${chars(20)}T3BlbkFJ${chars(20)}`),
  alone("OpenAI, Anthropic and others", `sk-proj-${chars(74)}T3BlbkFJ${chars(74)}`),
  alone("OpenAI, Anthropic and others", `sk-ant-api03-${chars(93)}AA`),
  alone("Stripe", `sk_live_${chars(24)}`),
  alone("Stripe", `rk_test_${chars(24)}`),
  alone("Stripe", `whsec_${chars(32)}`),
  alone("Twilio", `SK${chars(32, HEX)}`),
  alone("SendGrid", `SG.${chars(22)}.${chars(43)}`),
  alone("Supabase", `sbp_${chars(40, HEX)}`),
  alone("Supabase", `sb_secret_${chars(22)}_${chars(8)}`),
  alone("Hugging Face", `hf_${chars(34, LETTERS)}`),
  alone("DigitalOcean", `dop_v1_${chars(64, HEX)}`),
  alone("Groq", `gsk_${chars(52)}`),
  alone("Grafana", `glc_${chars(60)}`),
  alone("Grafana", `glsa_${chars(32)}_${chars(8, HEX)}`),
  alone("1Password", `ops_eyJ${chars(200)}fQ`),
  alone("HashiCorp Vault", `hvs.${chars(95)}`),
  alone("Linear", `lin_api_${chars(40)}`),
  alone("Notion", `ntn_12345678901${chars(35)}`),
  alone("Notion", `secret_${chars(43)}`),
  alone("Shopify", `shpat_${chars(32, HEX)}`),
  alone("Databricks", `dapi${chars(32, HEX)}`),
  alone("Docker", `dckr_pat_${chars(27)}`),
  alone("Figma", `figd_${chars(40)}`),
  alone("Vercel", `vcp_${chars(56)}`),
  alone("Cloudflare", `cfut_${chars(40)}${chars(8, HEX)}`),
  alone("Tailscale", `tskey-auth-${chars(12)}-${chars(32)}`),
  alone("HTTP authentication", "Bearer canary-canary-1"),
  alone("HTTP authentication", "Basic dXNlcjpjYW5hcnk="),
  {
    issuer: "HTTP authentication, in a header",
    secret: "canary-canary-2",
    text: "{'authorization': 'bearer canary-canary-2'}",
  },
  {
    issuer: "HTTP authentication, in a header",
    secret: "canary-canary-3",
    text: "PROXY-AUTHORIZATION: Token canary-canary-3",
  },
  named("AWS_SECRET_ACCESS_KEY=", chars(40)),
  named('"SecretAccessKey": "', chars(40)),
  named('{\\"clientSecret\\":\\"', chars(32)),
  named("TWILIO_AUTH_TOKEN=", chars(32, HEX)),
  named("//registry.example/:_authToken=", chars(36, HEX)),
  named("DefaultEndpointsProtocol=https;AccountKey=", `${chars(86)}==`),
  inUrl("postgres://me:", "canary-canary-4", "@localhost/db"),
  inUrl("https://me:", "canary-canary-5", "@example.com/x"),
  inUrl("mongodb+srv://me:", "canary-p@ss-6", "@cluster.example.net"),
  ...["key", "api_key", "token", "access_token", "sig", "X-Amz-Signature", "password"].map((name, n): SecretSample => {
    const secret = `canary-query-${String(n)}`;
    return { issuer: "URL, parameters", secret, text: `https://example.org/x?a=b&${name}=${secret}&c=d` };
  }),
];

function alone(issuer: string, secret: string): SecretSample {
  return { issuer, secret, text: secret };
}

function named(before: string, secret: string): SecretSample {
  return { issuer: "values of a name that says so", secret, text: before + secret };
}

function inUrl(before: string, secret: string, after: string): SecretSample {
  return { issuer: "URL, name and password", secret, text: before + secret + after };
}

function chars(count: number, alphabet = MIXED): string {
  return alphabet.repeat(Math.ceil(count / alphabet.length)).slice(0, count);
}
