"use strict";
// Tokenises texts with the engine of VS Code, and checks the scopes of words. Called by `npm test`.

const fs = require("fs");
const path = require("path");
const { Registry, parseRawGrammar } = require("vscode-textmate");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");

const FOLDER = path.join(__dirname, "..");
const MANIFEST = JSON.parse(fs.readFileSync(path.join(FOLDER, "package.json"), "utf8"));
const CASES = {
  "source.mdh": [
    ["target generic-cpu // as here", { "target": "keyword", "generic-cpu": "entity.name.namespace", "// as here": "comment" }],
    ["for matmul M=16 N=4 on h200 a100", { "for": "keyword", "matmul": "entity.name.function", "16": "constant.numeric", "on": "keyword" }],
    ["for M=16", { "for": "keyword", "16": "constant.numeric" }],
    ["stage C in B:1 {", { "stage": "keyword", "C": "entity.name.class", "in": "keyword", "B": "entity.name.class" }],
    [
      "1: (de-)comp( ?bm{8,16}, ^ ) ( A:SM[2,1]@pad(4), ^ ; ^ ) ( BLK.y, FOR.1 ) @stages(2)",
      {
        "1": "entity.name.label", "(de-)comp": "support.function", "?bm": "variable.language", "A": "variable.other",
        "SM": "storage.modifier", "@pad": "entity.other.attribute-name", "BLK": "storage.type",
        "y": "variable.parameter", "@stages": "entity.other.attribute-name",
      },
    ],
    ["(de/re)-comp( 1 )", { "(de/re)-comp": "support.function" }],
    ["where ?a * 2 <= N and not 3", { "where": "keyword", "and": "keyword.operator", "<=": "keyword.operator" }],
    ["/* two", { "/* two": "comment" }],
  ],
  "source.tc": [
    ["def MLP1(float(B,M) I) -> (O1) { # a layer", { "def": "keyword", "MLP1": "entity.name.function", "float": "storage.type", "# a layer": "comment" }],
    ["  O1(b,n) +=! fmaxf(I(b,m), 0)", { "+=!": "keyword.operator", "fmaxf": "support.function", "0": "constant.numeric" }],
  ],
  "source.diesel-tensor": [
    ["Matrix A(M,K); // rows", { "Matrix": "keyword", "A": "variable.other", "// rows": "comment" }],
    ["C = RELU(A * B^T);", { "RELU": "support.function", "^T": "keyword.operator" }],
  ],
};

async function main() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const files = Object.fromEntries(MANIFEST.contributes.grammars.map((g) => [g.scopeName, path.join(FOLDER, g.path)]));
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new OnigScanner(patterns),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async (scope) => parseRawGrammar(fs.readFileSync(files[scope], "utf8"), files[scope]),
  });
  let passed = 0;
  const wrong = [];
  for (const [scope, lines] of Object.entries(CASES)) {
    const grammar = await registry.loadGrammar(scope);
    for (const [line, words] of lines) {
      const tokens = grammar.tokenizeLine(line).tokens;
      for (const [word, wanted] of Object.entries(words)) {
        const found = tokens.filter((t) => line.slice(t.startIndex, t.endIndex).trim() === word);
        const whole = found.length ? found : tokens.filter((t) => t.startIndex === line.indexOf(word));
        if (whole.some((t) => t.scopes.some((s) => s.startsWith(wanted)))) passed += 1;
        else wrong.push(`${scope}: \`${word}\` in \`${line}\` is not ${wanted}: ${JSON.stringify(whole.map((t) => t.scopes))}`);
      }
    }
  }
  wrong.forEach((row) => console.error(row));
  console.log(`${passed} passed, ${wrong.length} failed`);
  process.exitCode = wrong.length ? 1 : 0;
}

main();
