// Vitest's own matchers, put together without Vitest: its runner needs Node, the matchers do not.
import {
  addCustomEqualityTesters,
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  getState,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

const asymmetric: object = Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT);

export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  asymmetric,
  {
    assert: chai.assert,
    addEqualityTesters: addCustomEqualityTesters,
    extend: (matchers: object): void => Reflect.get(chai.expect, "extend")(expect, matchers),
    getState: (): object => getState(Reflect.get(globalThis, GLOBAL_EXPECT)),
    setState: (state: object): void => setState(state, Reflect.get(globalThis, GLOBAL_EXPECT)),
    unreachable: (message = ""): never => chai.assert.fail(`expected ${message} not to be reached`),
  },
);

Object.defineProperty(globalThis, GLOBAL_EXPECT, { value: expect, configurable: true });
expect.setState({ assertionCalls: 0, isExpectingAssertions: false });
expect.extend(customMatchers);
