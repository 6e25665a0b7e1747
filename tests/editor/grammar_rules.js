"use strict";
// Prints the rules of a grammar for tree-sitter as JSON: what its functions build, without tree-sitter.

function rule(x) {
  if (x instanceof RegExp) return { type: "PATTERN", value: x.source };
  return typeof x === "string" ? { type: "STRING", value: x } : x;
}
const content = (type) => (x) => ({ type, content: rule(x) });
const members = (type) => (...xs) => ({ type, members: xs.map(rule) });
const prec = (...xs) => ({ type: "PREC", content: rule(xs[xs.length - 1]) });

Object.assign(globalThis, {
  seq: members("SEQ"),
  choice: members("CHOICE"),
  repeat: content("REPEAT"),
  repeat1: content("REPEAT1"),
  optional: content("OPTIONAL"),
  token: content("TOKEN"),
  field: (_name, x) => rule(x),
  alias: (x, to) => ({ type: "ALIAS", content: rule(x), to: to.name }),
  prec: Object.assign(prec, { left: prec, right: prec }),
  grammar: (given) => {
    const names = new Proxy({}, { get: (_, name) => ({ type: "SYMBOL", name }) });
    const rules = Object.entries(given.rules).map(([name, make]) => [name, rule(make(names))]);
    return { extras: given.extras(names).map(rule), rules: Object.fromEntries(rules) };
  },
});

process.stdout.write(JSON.stringify(require(process.argv[2])));
