/**
 * The schedule language of mdh, for highlighting and folding: mdh/docs/language.md, section 1. Names of layers,
 * regions and attributes are not checked here; the language server does that.
 */

const NAME = /[A-Za-z_][A-Za-z0-9_]*/;

/** One or more of a rule, with commas between. */
function listed(rule) {
  return seq(rule, repeat(seq(",", rule)));
}

module.exports = grammar({
  name: "mdh",

  extras: ($) => [/[ \t\r\n\f\uFEFF]/, $.comment],

  rules: {
    schedule: ($) => repeat(choice($._item, $.stage, $.loop, $._header, $.case)),

    _item: ($) => choice($.fuse, $.step, $.where),

    _header: ($) => choice($.target, $.program, $.sizes),
    target: ($) => seq("target", field("machine", $.dotted_name)),
    program: ($) => seq("program", field("function", $.dotted_name)),
    sizes: ($) =>
      prec.right(
        seq(
          choice("for", "small"),
          optional(field("function", $.identifier)),
          repeat1($.size),
          optional(seq("on", repeat1(field("machine", alias($.machine_name, $.dotted_name))))),
        ),
      ),
    size: ($) => seq(field("name", $.identifier), "=", $.number),

    stage: ($) =>
      prec.right(
        seq(
          "stage",
          field("name", $.identifier),
          choice(
            seq(repeat($.attribute), $.body),
            seq(choice("inline", "kernel"), repeat($.attribute), optional($.body)),
            seq($.within, repeat($.attribute), $.body),
            seq(choice($.beside, $.online), repeat($.attribute), optional($.body)),
            seq("=", $.choice, repeat($.attribute), optional($.body)),
            seq($.hole_name, optional($.ways), repeat($.attribute), optional($.body)),
          ),
        ),
      ),
    within: ($) => seq("in", field("reader", $.identifier), ":", $.number),
    beside: ($) => seq("beside", field("host", $.identifier)),
    online: ($) => seq("online", listed(field("reduced", $.identifier))),
    ways: ($) => seq("{", listed(choice("inline", "kernel", $.within, $.beside)), "}"),
    choice: ($) => choice($.library, seq($.hole_name, "{", listed(choice("steps", $.library)), "}")),
    library: ($) => seq("library", "(", field("name", $.identifier), ")"),
    body: ($) => seq("{", repeat($._item), "}"),
    loop: ($) =>
      seq("loop", field("name", $.identifier), "(", listed(field("counter", $.identifier)), ")", $.loop_body),
    loop_body: ($) => seq("{", repeat($.loop_step), "}"),
    case: ($) => seq("over", repeat1($.range), $.case_body),
    case_body: ($) => seq("{", repeat(choice($._item, $.stage)), "}"),
    range: ($) =>
      seq(field("name", $.identifier), "=", $.number, optional(seq("..", $.number, optional(seq(":", $.number))))),

    fuse: ($) => seq("fuse", listed(field("dimension", $.identifier))),

    step: ($) => seq(optional($.label), $.comp, $.tiles, $.memories, $.cores, repeat($.attribute)),
    loop_step: ($) => seq(optional($.label), $.comp, $.tiles, $.cores, repeat($.attribute)),
    label: ($) => seq($.number, ":"),
    comp: () => choice("(de-)comp", "(de/re)-comp"),

    tiles: ($) => seq("(", listed($.tile), ")"),
    tile: ($) => seq(choice($.number, $.caret, $.hole), repeat($.attribute)),

    memories: ($) => seq("(", optional(listed(field("input", $.memory))), ";", listed(field("output", $.memory)), ")"),
    memory: ($) => seq(choice($.caret, $.hole, $.place), repeat($.attribute)),
    place: ($) => seq(field("buffer", $.identifier), ":", field("region", choice($.identifier, $.hole)), $.layout),
    layout: ($) => seq("[", listed(choice($.number, $.hole)), "]"),

    cores: ($) => seq("(", listed($.core), ")"),
    core: ($) => seq(choice($.caret, $.hole, $.unit), repeat($.attribute)),
    unit: ($) => seq(field("layer", $.identifier), ".", field("axis", choice($.identifier, $.number))),

    hole: ($) => prec.right(choice(seq($.hole_name, optional($.set)), $.set)),
    set: ($) => seq("{", listed($._member), "}"),
    _member: ($) => choice($.number, $.caret, $.identifier, $.ratio, $.unit, $.member_place, $.member_call),
    member_place: ($) =>
      seq(field("buffer", $.identifier), ":", field("region", $.identifier), "[", listed($.number), "]"),
    member_call: ($) => seq($.identifier, "(", listed($.number), ")"),
    ratio: ($) => seq($.number, "/", $.number),

    attribute: ($) => prec.right(seq("@", field("name", $.identifier), optional($.arguments))),
    arguments: ($) => seq("(", listed($.argument), ")"),
    argument: ($) => seq($._alternative, repeat(seq("else", $._alternative))),
    _alternative: ($) => seq(optional(seq(field("name", $.identifier), "=")), $._value),
    _value: ($) => choice($.number, $.identifier, $.hole, $.ratio, $.call),
    call: ($) => seq($.identifier, $.arguments),

    where: ($) => seq("where", $._expression),
    _expression: ($) => choice($.number, $.identifier, $.hole_name, $.parenthesised, $.operation),
    parenthesised: ($) => seq("(", $._expression, ")"),
    operation: ($) =>
      choice(
        prec.left(1, seq($._expression, "or", $._expression)),
        prec.left(2, seq($._expression, "and", $._expression)),
        prec(3, seq("not", $._expression)),
        prec.left(4, seq($._expression, choice("<", "<=", ">", ">=", "==", "!="), $._expression)),
        prec.left(5, seq($._expression, choice("+", "-"), $._expression)),
        prec.left(6, seq($._expression, choice("*", "/", "%"), $._expression)),
        prec(7, seq("-", $._expression)),
      ),

    caret: () => "^",
    hole_name: () => /\?([A-Za-z_][A-Za-z0-9_]*)?/,
    number: () => /[0-9]+/,
    identifier: () => NAME,
    dotted_name: () => /[A-Za-z0-9_][A-Za-z0-9_.\-]*/,
    // with a letter first: a number behind the machines of a header is the label of a step
    machine_name: () => /[A-Za-z_][A-Za-z0-9_.\-]*/,
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*([^*]|\*+[^*\/])*\*+\//)),
  },
});
