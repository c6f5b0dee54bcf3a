// Runs inside `npm ci`, possibly on a Node too old for the sources: so plain JavaScript, and it says what is missing.
const { node } = process.versions;

if (node.localeCompare("22.18", "en", { numeric: true }) < 0) {
  console.error(
    `Ergon's build needs Node 22.18 or newer, and ${process.execPath} is ${node}.\n` +
      "Run npm ci without --omit=optional (it brings a fitting Node on Linux, macOS and Windows), or install Node 24.",
  );
  process.exit(1);
}
await import("./build.ts");
