import { describe, expect, it } from "vitest";
import { isSecretField } from "./secret-field.ts";

const text = { type: "string" };

describe("a field of a form", () => {
  it.each([
    ["password", text],
    ["userPassword", text],
    ["userpassword", text],
    ["authtoken", text],
    ["db-passwd", text],
    ["API_KEY", text],
    ["apikey", text],
    ["privateKey", text],
    ["access_token", text],
    ["token", text],
    ["clientSecret", text],
    ["PIN", text],
    ["pin", { type: "integer" }],
    ["cvv", { type: "number" }],
    ["k", { type: "string", title: "Your passphrase" }],
    ["k", { title: "Secret" }],
    ["k", { type: ["string", "null"], title: "Credentials" }],
    ["k", { type: "string", description: "the token of your account" }],
    ["k", { type: "string", format: "password" }],
    ["k", { type: "string", writeOnly: true }],
  ])('asks for a secret when it is "%s" with %j', (name, schema) => {
    expect(isSecretField(name, schema)).toBe(true);
  });

  it.each([
    ["max_tokens", text],
    ["maxTokens", { type: "integer" }],
    ["token_count", text],
    ["tokenLimit", text],
    ["secretary", text],
    ["pinned", text],
    ["spinner", text],
    ["keyboard", text],
    ["monkey", text],
    ["accesskeyboard", text],
    ["has_password", { type: "boolean" }],
    ["secrets", { type: "integer", title: "How many secrets" }],
    ["credential", { type: "string", enum: ["mine", "yours"] }],
    ["integer", { type: "integer", description: "Your favourite integer (do not give us your phone number, pin, …)" }],
    ["k", { type: "string", description: "the token of your own account" }],
    ["note", { type: "string", description: "Do not write your password here." }],
    ["k", null],
  ])('asks for none when it is "%s" with %j', (name, schema) => {
    expect(isSecretField(name, schema)).toBe(false);
  });
});
