/**
 * Credentials that can be told by their look, from what their issuers document. A `hint` is cheap and found in every
 * text that `pattern` matches; only then the pattern is run, by an engine that is linear in the text. What its groups
 * match, before the secret and after it, stays.
 */
export type SecretFormat = { readonly issuer: string; readonly hint: string; readonly pattern: string };

/** Before a prefix of few letters: the end of a word is not the beginning of a key. */
const ALONE = "(^|[^A-Za-z0-9])";
/** Between a name and its value: in a file of settings, in code, in JSON, in JSON within JSON. */
const IS = `["'\\\\]*\\s*(?:=>|[:=])\\s*["'\\\\]*`;
/** Names of values, as whole words or at the end of longer ones. */
const NAMES = "(?:key|token|secret|passw(?:or)?d|pwd|sig|signature|credential|auth)";

export const SECRET_FORMATS: readonly SecretFormat[] = [
  { issuer: "Ergon", hint: "ergon_", pattern: "ergon_[\\w-]{43,}" },
  {
    issuer: "private keys (PEM)",
    hint: "PRIVATE KEY",
    // One whose end was cut off goes on to the end of the text.
    pattern:
      "-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\\z)",
  },
  { issuer: "GitHub", hint: "gh[pousr]_", pattern: "gh[pousr]_[\\w.-]{36,}" },
  { issuer: "GitHub, fine-grained", hint: "github_pat_", pattern: "github_pat_\\w{22,}" },
  {
    issuer: "GitLab",
    hint: "gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|wt|soat|ffct)-",
    pattern: "gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[\\w.=-]{20,}",
  },
  {
    issuer: "AWS, access key id",
    hint: "A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA|3T)",
    pattern: `${ALONE}A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA|3T[A-Z0-9])[A-Z0-9]{16}`,
  },
  { issuer: "Slack", hint: "xox[a-z][-.]|xapp-", pattern: "(?:xox[a-z]\\.)?(?:xox[a-z]|xapp)-[\\w-]{10,}" },
  {
    issuer: "Slack, webhook",
    hint: "hooks\\.slack\\.com/",
    pattern: "(hooks\\.slack\\.com/(?:services|workflows|triggers)/)[\\w/+-]{10,}",
  },
  { issuer: "JSON Web Token", hint: "eyJ", pattern: "eyJ[\\w-]{10,}(?:\\.[\\w-]*){2,4}" },
  { issuer: "Google, API key", hint: "AIza", pattern: "AIza[\\w-]{35,}" },
  { issuer: "Google, OAuth", hint: "ya29\\.|GOCSPX-|1//0", pattern: `${ALONE}(?:ya29\\.|GOCSPX-|1//0)[\\w.-]{20,}` },
  { issuer: "npm", hint: "npm_", pattern: "npm_\\w{36,}" },
  { issuer: "PyPI", hint: "pypi-", pattern: "pypi-[\\w-]{50,}" },
  { issuer: "OpenAI, Anthropic and others", hint: "sk-", pattern: `${ALONE}sk-[\\w-]{16,}` },
  { issuer: "Stripe", hint: "[rs]k_(?:live|test)_|whsec_", pattern: "(?:[rs]k_(?:live|test)_|whsec_)[\\w+/=]{16,}" },
  { issuer: "Twilio", hint: "SK[0-9a-f]{32}", pattern: `${ALONE}SK[0-9a-f]{32}` },
  { issuer: "SendGrid", hint: "SG\\.", pattern: `${ALONE}SG\\.[\\w-]{16,}\\.[\\w-]{16,}` },
  { issuer: "Supabase", hint: "sbp_|sb_secret_", pattern: "sb(?:p|_secret)_[\\w-]{20,}" },
  { issuer: "Hugging Face", hint: "hf_|api_org_", pattern: `${ALONE}(?:hf|api_org)_[A-Za-z]{34,}` },
  { issuer: "DigitalOcean", hint: "do[por]_v1_", pattern: "do[por]_v1_[0-9a-f]{64}" },
  { issuer: "Groq", hint: "gsk_", pattern: `${ALONE}gsk_[A-Za-z0-9]{40,}` },
  { issuer: "Grafana", hint: "glc_|glsa_", pattern: "gl(?:c|sa)_[\\w+/=]{32,}" },
  { issuer: "1Password", hint: "ops_ey", pattern: "ops_ey[\\w+/=-]{100,}" },
  { issuer: "HashiCorp Vault", hint: "hv[sbr]\\.", pattern: `${ALONE}hv[sbr]\\.[\\w-]{24,}` },
  { issuer: "Linear", hint: "lin_(?:api|oauth)_", pattern: "lin_(?:api|oauth)_\\w{32,}" },
  { issuer: "Notion", hint: "ntn_|secret_", pattern: `${ALONE}(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})` },
  { issuer: "Shopify", hint: "shp(?:pa|ca|at|ss)_", pattern: "shp(?:pa|ca|at|ss)_[A-Za-z0-9]{32,}" },
  { issuer: "Databricks", hint: "dapi", pattern: `${ALONE}dapi[A-Fa-f0-9]{32}(?:-\\d)?` },
  { issuer: "Docker", hint: "dckr_", pattern: "dckr_(?:pat|oat)_[\\w-]{27,}" },
  { issuer: "Figma", hint: "fig[dour]_", pattern: "fig[dour]_[\\w-]{40,}" },
  { issuer: "Vercel", hint: "vc[piark]_", pattern: `${ALONE}vc[piark]_[A-Za-z0-9]{20,}` },
  { issuer: "Cloudflare", hint: "cf(?:k|ut|at)_", pattern: `${ALONE}cf(?:k|ut|at)_[A-Za-z0-9]{40,}` },
  { issuer: "Tailscale", hint: "tskey-", pattern: "tskey-[a-z]{2,20}-[\\w-]{24,}" },
  { issuer: "HTTP authentication", hint: "Bearer\\s|Basic\\s", pattern: "\\b(?:Bearer|Basic)\\s+[\\w.~+/=-]{8,}" },
  {
    issuer: "HTTP authentication, in a header",
    hint: anyCase("authorization"),
    pattern: `(?i)(authorization${IS})(?:bearer|basic|digest|token)\\s+[^"'\\\\\\r\\n]{8,}`,
  },
  {
    issuer: "values of a name that says so",
    hint: `${anyCase("(?:key|token|secret)")}["'\\\\]*\\s*[=:]`,
    pattern: `(?i)((?:secret[_-]?(?:access[_-]?)?key|client[_-]?secret|(?:api|account)[_-]?key|(?:auth|access|session|security|refresh)[_-]?token)${IS})[\\w/+=.~-]{16,}`,
  },
  { issuer: "URL, name and password", hint: '://[^/?#\\s"]+@', pattern: '(://)[^/?#\\s"]+(@)' },
  {
    issuer: "URL, parameters",
    hint: `${anyCase(NAMES)}=`,
    pattern: `(?i)([?&;#][\\w.-]{0,40}${NAMES}=)[^&;#\\s"'<>\\\\]+`,
  },
];

/** For the engine of hints, which knows case only for a whole expression. */
function anyCase(source: string): string {
  return source.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}
