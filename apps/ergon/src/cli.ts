import manifest from "../package.json" with { type: "json" };

process.stdout.write(`ergon ${manifest.version}\n`);
