/**
 * Node's HTTP, taken when it is needed. An `import` reads every export of the module as the program starts, and some of
 * them load a whole HTTP client.
 */
export function nodeHttp() {
  return process.getBuiltinModule("node:http");
}

export function nodeHttps() {
  return process.getBuiltinModule("node:https");
}
