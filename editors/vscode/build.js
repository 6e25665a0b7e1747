"use strict";
// Bundles the client into dist/extension.js, and the licences of all that is in it into dist/licences.txt.

const fs = require("fs");
const path = require("path");
const { build } = require("esbuild");

async function main() {
  const done = await build({
    entryPoints: ["src/extension.js"],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node18",
    external: ["vscode"],
    minify: true,
    metafile: true,
    outfile: "dist/extension.js",
  });
  const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  const found = Object.keys(done.metafile.inputs).map((file) => (file.match(folder) ?? [])[1]);
  const texts = [...new Set(found.filter(Boolean))].sort().map((place) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(place, "package.json"), "utf8"));
    const file = fs.readdirSync(place).find((f) => /^licen[cs]e/i.test(f));
    if (file === undefined) throw new Error(`${name} has no text of its licence (${license})`);
    return `${name} ${version}\n\n${fs.readFileSync(path.join(place, file), "utf8").trim()}\n`;
  });
  fs.writeFileSync("dist/licences.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
  console.log(`bundled ${texts.length} packages`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
