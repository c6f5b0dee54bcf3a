import manifest from "../package.json" with { type: "json" };

console.log(`ergon ${manifest.version}`);
