#!/bin/sh
# `tool` lines: which tools of a wrapped MCP server may be called, as a union that no order changes.
. "$(dirname "$0")/lib.sh"
policy() { printf '%s\n' 'use none' "$@" >"$T/p.cordon"; }
lines() { "$CORDON" policy show "$T/p.cordon" | sed -n 's/^tool //p' | tr '\n' ';'; }
code() { "$CORDON" why -p "$T/p.cordon" --json "$1" | jq -r .code; }

policy 'box b'
is "without a line there is no door" "$(lines)" ""
is "and no tool may be called" "$(code "tool x")" no-door
policy 'tool b a'
is "a line opens the tools that it names" "$(lines)" "a;b;"
ok "one of them" "$CORDON" why -p "$T/p.cordon" "tool a"
is "no other" "$(code "tool c")" no-door
has "the hint names the line" "$("$CORDON" why -p "$T/p.cordon" "tool c")" "permit tool c"
policy 'tool a ask'
is "a line that asks opens no other tool either" "$(lines) $(code "tool b")" "a ask; no-door"
policy 'tool any'
is "any opens all" "$(lines)" "any;"
ok "whatever their names" "$CORDON" why -p "$T/p.cordon" "tool x"
policy 'tool any' 'tool a ask'
has "the line of a tool's own name decides whether it asks" "$("$CORDON" why -p "$T/p.cordon" "tool a")" "tool a ask"
policy 'tool a where n=int:1..5' 'tool any'
ok "lines add up" "$CORDON" why -p "$T/p.cordon" 'tool a "{\"n\":9}"'
policy 'tool a where n=int:1..5' 'tool a ask'
hasnt "within the bounds of the more specific line nobody is asked" "$("$CORDON" why -p "$T/p.cordon" 'tool a "{\"n\":3}"')" "ask"
has "outside of them somebody is" "$("$CORDON" why -p "$T/p.cordon" 'tool a "{\"n\":9}"')" "tool a ask"
policy 'tool a until 2001-01-01'
is "an expired line leaves nothing open" "$(code "tool a") $(code "tool b")" "expired no-door"
policy 'tool a where n=int:1..5 path?=text:20 only'
ok "arguments within bounds" "$CORDON" why -p "$T/p.cordon" 'tool a "{\"n\":3}"'
is "and outside" "$(code 'tool a "{\"n\":9}"') $(code 'tool a "{\"n\":3,\"x\":1}"') $(code 'tool a "{\"n\":\"3\"}"')" "parameter parameter parameter"
"$CORDON" policy show --json "$T/p.cordon" >"$T/p.json"
is "the JSON form is the same policy" "$("$CORDON" policy diff "$T/p.cordon" "$T/p.json")" equal
cp "$T/p.cordon" "$T/narrow.cordon"
policy 'tool a'
is "bounds are narrower" "$("$CORDON" policy diff "$T/p.cordon" "$T/narrow.cordon" | tail -n 1)" narrower
policy 'tool a b'
is "fewer names are narrower" "$("$CORDON" policy diff "$T/p.cordon" "$T/narrow.cordon" | tail -n 1)" narrower
policy 'tool any'
is "than any as well" "$("$CORDON" policy diff "$T/p.cordon" "$T/narrow.cordon" | tail -n 1)" narrower
policy 'tool a' 'expect deny tool b' 'expect allow tool a'
ok "expect tests them" "$CORDON" check "$T/p.cordon"
# there is no negation
for wrong in 'tool' 'tool a deny' 'tool any deny' 'tool a deny ask' 'tool a except b' 'tool any except a' 'tool a allow' 'tool a where n=int:1..3 in body' 'tool "a b"' 'tool any where n=int:1..3'; do
        policy "$wrong"
        is "$wrong" "$(status "$CORDON" check "$T/p.cordon")" 125
done
printf '{"use":["none"],"doors":[{"tool":"*","except":["a"]}]}' >"$T/p.cordon"
is "nor in JSON" "$(status "$CORDON" check "$T/p.cordon")" 125
policy 'tool a where n=int:1..3 ask'
ok "arguments as the shell has them" "$CORDON" why -p "$T/p.cordon" tool a '{"n": 3}'
has "wider bounds still ask" "$("$CORDON" why -p "$T/p.cordon" tool a '{"n":4}')" "permit tool a where n=int:1..4 ask"
policy 'net https://a.example/pay POST where n=int:1..3 ask'
has "also of requests" "$("$CORDON" why -p "$T/p.cordon" net POST 'https://a.example/pay?n=4')" "permit net https://a.example/pay POST where n=int:1..4 ask"
done_testing
