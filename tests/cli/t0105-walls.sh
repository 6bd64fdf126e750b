#!/bin/sh
# `cordon selftest walls`: what is said to be there starts, its figures are measured, and what it does not stop is what `claims` says.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
if ! command -v jq >/dev/null; then
        skip "walls" "jq is not installed"
        done_testing
fi
before=$(orphans)
# (module (func (export "_start")))
printf '\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000\007\012\001\006_start\000\000\012\004\001\002\000\013' >"$T/true.wasm"
wall() { jq -c ".walls[] | select(.wall == \"$1\") | $2" "$T/json"; }
for who in "" as_user; do
        $who "$CORDON" selftest walls -n 5 --json >"$T/json" 2>"$T/err"
        is "${who:-root}: it ends well" "$?:$(cat "$T/err")" "0:"
        is "${who:-root}: every wall of the language has a row, the weakest first" "$(jq -r '.walls | map(.wall) | join(" ")' "$T/json")" "process namespace wasm vm"
        for w in process namespace wasm vm; do
                # What it says is what a run does.
                # shellcheck disable=SC2046
                $who "$CORDON" run -q --wall "$w" -- $([ $w = wasm ] && echo "$T/true.wasm" || echo true) >/dev/null 2>"$T/err"
                started=$?
                if [ $started -eq 0 ]; then
                        is "${who:-root}: $w is there, and was started five times" "$(wall "$w" '[.here, .why, .runs]')" '[true,"",5]'
                        ok "${who:-root}: $w: its start was measured" jq -e ".walls[] | select(.wall == \"$w\") | .start_us > 50 and .start_us < 10000000" "$T/json"
                else
                        is "${who:-root}: $w is not there" "$(wall "$w" '[.here, .start_us, .memory, .does_not_stop]')" '[false,null,null,null]'
                        has "${who:-root}: $w: and the reason is that of a run" "$(cat "$T/err")" "$(wall "$w" .why | tr -d '"')"
                fi
        done
        is "${who:-root}: auto is what a run takes" "$(jq -r .auto "$T/json")" "$($who "$CORDON" run -q --status-fd 3 -- true 3>&1 | jq -r .wall)"
        ok "${who:-root}: memory is a number, or it is said why not" jq -e 'all(.walls[] | select(.here); (.memory != null and .memory > 100000 and .memory < 100000000 and .memory_why == "") or (.memory == null and (.memory_why | length > 0)))' "$T/json"
done
if [ "$(id -u)" -eq 0 ]; then
        "$CORDON" selftest walls -n 1 --json >"$T/json"
        ok "as root the memory is told" jq -e 'all(.walls[] | select(.here); .memory > 100000)' "$T/json"
else
        skip "as root the memory is told" "not root"
fi
# One table of words for both.
"$CORDON" selftest claims --json >"$T/claims" 2>/dev/null
jq -r '.walls[] | select(.wall == "namespace") | .does_not_stop[]' "$T/json" >"$T/said"
if [ -s "$T/said" ]; then
        jq -r '.. | strings' "$T/claims" | sort -u >"$T/claimed"
        is "what the namespace wall does not stop stands in claims, word for word" "$(sort -u "$T/said" | comm -23 - "$T/claimed")" ""
        ok "and it is something" test "$(wc -l <"$T/said")" -ge 8
else
        skip "the words of claims" "there is no namespace wall here"
fi
"$CORDON" selftest walls -n 1 >"$T/text"
has "the text has a table" "$(cat "$T/text")" "start us  memory K"
has "what auto takes" "$(cat "$T/text")" '`wall auto` raises the '
has "what nothing stops" "$(cat "$T/text")" "No wall here stops:"
has "and why a wall is not there" "$(cat "$T/text")" "not here: "
for bad in "-n 0" "-n many" nonsense; do
        # shellcheck disable=SC2086
        "$CORDON" selftest walls $bad >/dev/null 2>&1
        is "walls $bad is refused" $? 125
done
# It measures; it does not write: no run of its own stands in the ledger.
CORDON_STATE=$T/fresh "$CORDON" selftest walls -n 1 >/dev/null
is "nothing of it is in the ledger" "$(CORDON_STATE=$T/fresh "$CORDON" ledger --json 2>/dev/null | grep -c '"kind":"start"')" 0
# An image is attacked if it holds the prober where the host has it (tests/escape/run-breakout.sh); else nothing starts.
mkdir -p "$T/image/usr/bin"
for v in breakout claims; do
        is "selftest $v: an image without the prober does not start" "$(status "$CORDON" selftest $v --image "$T/image")" 125
done
ok "no control group is left" none_left
done_testing
