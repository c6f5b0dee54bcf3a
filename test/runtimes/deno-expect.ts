// Vitest's own matchers, put together without Vitest: its runner needs Node, the matchers do not.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  type ExpectStatic,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";

export const expect = assemble();

function assemble(): ExpectStatic {
  for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

  // The plugins leave what they add on the global object and on chai's own expect, where no type mentions it.
  const globals = globalThis as unknown as Record<symbol, object>;
  const plain = chai.expect as unknown as { extend(target: ExpectStatic, matchers: object): void };
  const unreachable = (message = "the line"): never => chai.assert.fail(`expected ${message} not to be reached`);

  const assembled = Object.assign(
    (value: unknown, message?: string) => chai.expect(value, message),
    chai.expect,
    globals[ASYMMETRIC_MATCHERS_OBJECT],
    { assert: chai.assert, unreachable },
  ) as unknown as ExpectStatic;
  globals[GLOBAL_EXPECT] = assembled;
  setState({ assertionCalls: 0, isExpectingAssertions: false }, assembled);
  plain.extend(assembled, customMatchers);
  return assembled;
}
