(comment) @comment

["target" "program" "for" "small" "on"] @keyword
["stage" "loop" "over" "fuse" "where" "in" "inline" "kernel" "beside" "online" "library" "steps" "else"] @keyword
["and" "or" "not"] @keyword.operator

(comp) @function.builtin
(label (number) @label)
(stage name: (identifier) @type)
(loop name: (identifier) @type)
(within reader: (identifier) @type)
(target machine: (dotted_name) @module)
(sizes machine: (dotted_name) @module)
(sizes function: (identifier) @function)
(program function: (dotted_name) @function)
(size name: (identifier) @constant)
(range name: (identifier) @constant)
(fuse dimension: (identifier) @variable.parameter)

(place buffer: (identifier) @variable)
(place region: (identifier) @type.builtin)
(member_place buffer: (identifier) @variable)
(member_place region: (identifier) @type.builtin)
(unit layer: (identifier) @type.builtin)
(unit axis: _ @variable.parameter)
(attribute "@" @attribute name: (identifier) @attribute)
(argument name: (identifier) @property)
(hole_name) @variable.special

(number) @number
(caret) @operator
["=" "+" "-" "*" "/" "%" "<" "<=" ">" ">=" "==" "!=" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
