(comment) @comment

["target" "program" "for" "small" "on"] @keyword
["stage" "loop" "over" "fuse" "where" "in" "inline" "kernel" "beside" "online" "library" "steps" "else"] @keyword
["and" "or" "not"] @keyword.operator

(comp) @function.builtin
(label (number) @label)
(stage name: (identifier) @type)
(loop name: (identifier) @type)
(within reader: (identifier) @type)
(beside host: (identifier) @type)
(online reduced: (identifier) @type)
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
(unit axis: (identifier) @variable.parameter)
(attribute "@" @attribute name: (identifier) @attribute)
(argument name: (identifier) @property)
(hole_name) @variable.special

; editors differ in which of two patterns for a node wins: so labels have one, and numbers elsewhere another
(size (number) @number)
(range (number) @number)
(within (number) @number)
(tile (number) @number)
(layout (number) @number)
(set (number) @number)
(unit axis: (number) @number)
(ratio (number) @number)
(argument (number) @number)
(member_place (number) @number)
(member_call (number) @number)
(where (number) @number)
(parenthesised (number) @number)
(operation (number) @number)
(caret) @operator
["=" "+" "-" "*" "/" "%" "<" "<=" ">" ">=" "==" "!=" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
