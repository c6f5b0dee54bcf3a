// Runs inside `npm ci`, possibly on a Node too old for the sources: so plain JavaScript, and it says what is missing.
const { execPath, versions } = process;
const [major, minor] = versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Ergon's build needs Node 22.18 or newer, and ${execPath} is ${versions.node}.\n` +
      "Run npm ci without --omit=optional (it brings a fitting Node on Linux, macOS and Windows), or install Node 24.",
  );
  process.exit(1);
}
await import("./build.ts");
