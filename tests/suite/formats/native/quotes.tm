machine "names that need \"quotes\""
tape "first tape": "*" "#" "a b" "" blank ""
tape ":": "->" "," "\\" "\u{2a}" blank "->"
missing: reject
start: "start"
input "first tape": "#" "a b" "*" "#"
input ":": "," head -1

"start":
  "#"   *    -> "*"   ",", R S, "start"
  "a b" ","  -> "a b" "\\", R L, "start"
  "*"   *    -> "#"   "*", L S, "the end, really"

"the end, really": accept
