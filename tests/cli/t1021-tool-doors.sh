#!/bin/sh
# `tool` lines: which tools of a wrapped MCP server may be called, as a union that no order changes.
. "$(dirname "$0")/lib.sh"
policy() { printf '%s\n' 'use none' "$@" >"$T/p.cordon"; }
lines() { "$CORDON" policy show "$T/p.cordon" | sed -n 's/^tool //p' | tr '\n' ';'; }
code() { "$CORDON" why -p "$T/p.cordon" --json "$1" | jq -r .code; }

policy 'box b'
is "without a line there is no door" "$(lines)" ""
ok "and every tool may be called" "$CORDON" why -p "$T/p.cordon" "tool x"
policy 'tool b a deny'
is "deny takes tools out of all others" "$(lines)" "any except a b;"
is "a denied tool" "$(code "tool a")" excepted
ok "another one" "$CORDON" why -p "$T/p.cordon" "tool c"
policy 'tool a' 'tool b deny'
is "a line that allows narrows" "$(lines)" "a;"
is "tools without a line are denied then" "$(code "tool c")" no-door
is "a line that denies is the reason, not a missing door" "$(code "tool b")" excepted
has "it is named" "$("$CORDON" why -p "$T/p.cordon" "tool b")" "p.cordon:3 denies it"
hasnt "no hint is given that it would undo" "$("$CORDON" why -p "$T/p.cordon" "tool b")" "permit tool"
has "doors lists it" "$("$CORDON" doors -p "$T/p.cordon")" "tool b deny"
policy 'tool a b' 'tool a deny'
is "deny wins, in any order" "$(lines)" "b;"
policy 'tool a deny' 'tool a'
is "if nothing is left, the policy does not load" "$(status "$CORDON" check "$T/p.cordon")" 125
policy 'tool a ask'
is "ask speaks of its own tool" "$(lines)" "any except a;a ask;"
policy 'tool a allow' 'tool any'
is "any is for tools without a line" "$(lines)" "any except a;a;"
policy 'tool any except a' 'tool any except b'
is "exceptions add up" "$(lines)" "any except a b;"
policy 'tool a until 2001-01-01'
is "an expired line leaves nothing open" "$(code "tool a") $(code "tool b")" "expired no-door"
policy 'tool a where n=int:1..5 path?=text:20 only'
ok "arguments within bounds" "$CORDON" why -p "$T/p.cordon" 'tool a "{\"n\":3}"'
is "and outside" "$(code 'tool a "{\"n\":9}"') $(code 'tool a "{\"n\":3,\"x\":1}"') $(code 'tool a "{\"n\":\"3\"}"')" "parameter parameter parameter"
"$CORDON" policy json "$T/p.cordon" >"$T/p.json"
is "the JSON form is the same policy" "$("$CORDON" policy diff "$T/p.cordon" "$T/p.json")" equal
cp "$T/p.cordon" "$T/narrow.cordon"
policy 'tool a'
is "bounds are narrower" "$("$CORDON" policy diff "$T/p.cordon" "$T/narrow.cordon" | tail -n 1)" narrower
policy 'tool a deny'
cp "$T/p.cordon" "$T/one.cordon"
policy 'tool a b deny'
is "and so are more denials" "$("$CORDON" policy diff "$T/one.cordon" "$T/p.cordon" | tail -n 1)" narrower
has "doors lists them" "$("$CORDON" doors -p "$T/p.cordon")" "any except a b"
policy 'tool a' 'expect deny tool b' 'expect allow tool a'
ok "expect tests them" "$CORDON" check "$T/p.cordon"
for wrong in 'tool' 'tool any deny' 'tool a deny ask' 'tool a except b' 'tool a where n=int:1..3 in body' 'tool "a b"' 'tool any where n=int:1..3' 'tool a deny until 2030-01-01'; do
        policy "$wrong"
        is "$wrong" "$(status "$CORDON" check "$T/p.cordon")" 125
done
policy 'tool a where n=int:1..3 ask'
ok "arguments as the shell has them" "$CORDON" why -p "$T/p.cordon" tool a '{"n": 3}'
has "wider bounds still ask" "$("$CORDON" why -p "$T/p.cordon" tool a '{"n":4}')" "permit tool a where n=int:1..4 ask"
policy 'net https://a.example/pay POST where n=int:1..3 ask'
has "also of requests" "$("$CORDON" why -p "$T/p.cordon" net POST 'https://a.example/pay?n=4')" "permit net https://a.example/pay POST where n=int:1..4 ask"
done_testing
