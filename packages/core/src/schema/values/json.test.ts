import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Json, MAX_JSON_DEPTH, copyJson, jsonProblem, pointerTo } from "./json.ts";

const usualJson = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__"'));

describe("jsonProblem", () => {
  it("finds nothing wrong with JSON", () => {
    fc.assert(fc.property(usualJson, (value) => jsonProblem(value) === undefined));
  });

  it("says what is wrong and where", () => {
    expect(jsonProblem({ rows: [{ at: new Date(0) }] })).toBe("an object that is not plain data, at /rows/0/at");
    expect(jsonProblem({ "a/b": Number.NaN })).toBe("a number that JSON cannot hold, at /a~1b");
    expect(jsonProblem(undefined)).toBe("a value of type undefined");
    expect(jsonProblem(Array.from({ length: 2 }).concat(1))).toBe("a value of type undefined, at /0");
  });

  it("lets undefined fields pass only when they count as absent", () => {
    expect(jsonProblem({ a: undefined })).toBe("a value of type undefined, at /a");
    expect(jsonProblem({ a: undefined }, { undefinedIsAbsent: true })).toBeUndefined();
    expect(jsonProblem([undefined], { undefinedIsAbsent: true })).toBe("a value of type undefined, at /0");
  });

  it("takes the deepest allowed document and refuses the next", () => {
    expect(jsonProblem(nested(MAX_JSON_DEPTH))).toBeUndefined();
    expect(jsonProblem(nested(MAX_JSON_DEPTH + 1))).toContain(`a value nested deeper than ${String(MAX_JSON_DEPTH)}`);
  });

  it("refuses a value that contains itself", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(jsonProblem(cycle)).toBe("a value that contains itself, at /self");
  });

  it("takes one value in two places, but not one that unfolds without end", () => {
    const shared = { n: 1 };
    expect(jsonProblem([shared, shared])).toBeUndefined();
    let bomb: unknown = 0;
    for (let i = 0; i < 40; i += 1) bomb = [bomb, bomb];
    expect(jsonProblem(bomb)).toContain("more than");
  });

  it("refuses a field named __proto__, however deep, and no other name", () => {
    const problem = 'a field named "__proto__", at /rows/0/__proto__';
    expect(jsonProblem(JSON.parse('{"rows":[{"__proto__":null}]}'))).toBe(problem);
    expect(jsonProblem({ constructor: 1, prototype: 2, proto__: 3, list: ["__proto__"] })).toBeUndefined();
  });

  it("reports a getter that throws instead of throwing itself", () => {
    const trap = {
      get value(): string {
        throw new Error("sprung");
      },
    };
    expect(jsonProblem({ trap })).toContain("sprung");
  });
});

describe("Json", () => {
  it("keeps what it accepts as it is", () => {
    fc.assert(
      fc.property(usualJson, (value) => {
        expect(Json.parse(value)).toEqual(value);
      }),
    );
  });

  it("refuses what JSON cannot hold", () => {
    for (const value of [1n, Symbol("s"), () => 1, new Map(), Number.POSITIVE_INFINITY]) {
      expect(Json.safeParse(value).success).toBe(false);
    }
  });
});

describe("copyJson", () => {
  it("makes an equal value that shares nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(copyJson(value as Json))).toBe(JSON.stringify(value));
      }),
    );
    const original = { list: [{ n: 1 }] };
    const copy = copyJson(original);
    expect(copy.list).not.toBe(original.list);
    expect(copy.list[0]).not.toBe(original.list[0]);
  });

  it("copies a field named __proto__ as a field", () => {
    const copy = copyJson(JSON.parse('{"__proto__": {"admin": true}}') as Json) as Record<string, unknown>;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy["admin"]).toBeUndefined();
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true}}');
  });
});

describe("pointerTo", () => {
  it("escapes as RFC 6901 says", () => {
    expect(pointerTo([])).toBe("");
    expect(pointerTo(["a~b", "c/d", 0])).toBe("/a~0b/c~1d/0");
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}
