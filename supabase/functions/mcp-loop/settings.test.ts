import { expect, it } from "vitest";
import { readSettings } from "./settings.ts";

const read = (origins: string) =>
  readSettings(
    (name) => ({ SUPABASE_URL: "http://project", SUPABASE_ANON_KEY: "k", ERGON_ALLOWED_ORIGINS: origins })[name],
  ).allowedOrigins;

it("takes origins separated by commas, with and without spaces", () => {
  expect(read("https://a.example, https://b.example:8443 ,https://c.example/")).toEqual([
    "https://a.example",
    "https://b.example:8443",
    "https://c.example",
  ]);
  expect(read("")).toEqual([]);
});

it.each(["*", "a.example", "https://a.example,*", "data:text/plain,x"])(
  "refuses %s, and says what to write",
  (origins) => {
    expect(() => read(origins)).toThrow(/ERGON_ALLOWED_ORIGINS: .* Name each origin/);
  },
);
