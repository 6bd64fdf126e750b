#!/bin/sh
# tests/escape/run-claims.sh - the claims follow what the box really has: a layer that is off changes them, what is left
# is never empty, and no word says more than was tried.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/lib.sh
if ! command -v jq >/dev/null; then
        skip "the claims" "jq is not installed"
        done_testing
fi
get() { jq -r "$1" <"$T/json" 2>&1; }
# claims ARGUMENT...: as $who; JSON in json, status in $status
claims() {
        $who "$CORDON" selftest claims --json "$@" >"$T/json" 2>"$T/err"
        status=$?
}
root() { "$@"; }

for who in root as_user; do
        claims
        is "$who: nothing escaped" $status 0
        is "$who: no sandbox failure" "$(get .sandbox_failures)" 0
        ok "$who: failures were contained ($(get .contained_failures))" test "$(get .contained_failures)" -ge 300
        is "$who: every class has a claim" "$(get '.hardened_against | length')" 18
        is "$who: the classes add up to the attempts" "$(get '[.hardened_against[].total] | add')" \
                "$(($("$CORDON" selftest breakout --list | wc -l) + 7))"
        is "$who: every claim but what the host sees names its layers" "$(get '[.hardened_against[] | select(.class != "outside" and (.layers | length) == 0)] | length')" 0
        ok "$who: refused calls are told" test "$(get '.monitored_for | length')" -ge 20
        for left in 'kernel is shared' 'side channels' 'novel escapes' 'supply chain' 'single-layer' 'flock' "Landlock's rule" \
                'network that a door' 'a model says' 'providers' 'enclaves' 'regulation'; do
                has "$who: what is left names: $left" "$(get '.residual[]')" "$left"
        done
        claims --wall 'auto without landlock'
        is "$who: without Landlock it is off for files" "$(get '.hardened_against[] | select(.class == "files") | .layers_off | index("landlock") != null')" true
        has "$who: and that stands in what is left" "$(get '.residual[]')" "the layer landlock is off"
        claims --wall process
        is "$who: the process wall is named" "$(get .wall)" process
        has "$who: with its gaps" "$(get '.residual[]')" "the process wall: paths outside the doors exist"
        has "$who: and its missing layers" "$(get '.residual[]')" "the layer mount is off"
done
claims
who=root
claims
hasnt "root: Landlock is not said to be off" "$(get '.residual[]')" "layer landlock"
hasnt "root: the process wall is not spoken of" "$(get '.residual[]')" "process wall"
who=as_user
claims
if [ "$(get '.layers | index("cgroup")')" = null ]; then
        has "without control groups, that is said" "$(get '.residual[]')" "no control group keeps this box"
else
        skip "without control groups, that is said" "this user may make control groups"
fi
text=$("$CORDON" selftest claims)
for part in "HARDENED AGAINST" "MONITORED FOR" "AUDITED FOR" "enforced and tested here" "valid until" RESIDUAL "contained failures" "sandbox failures"; do
        has "the text has: $part" "$text" "$part"
done
# Every class that one layer holds alone, in part, is told as such.
for class in $(sed -n 's/^KNOCKOUT("\([a-z-]*\)", [0-9]*, [0-9]*, [1-9].*/\1/p' src/selftest/knockout.inc); do
        has "single-layer is told of $class" "$text" "single-layer: $class:"
done
# --- signed, valid for a day, compared ---
CORDON_STATE=$T/state-sign && export CORDON_STATE && mkdir -m 700 "$CORDON_STATE"
"$CORDON" selftest claims --sign "$T/a" >/dev/null 2>"$T/told"
is "claims are signed into a file" "$? $(jq -r '.residual | length > 5' "$T/a")" "0 true"
is "the files are named" "$(cat "$T/told")" "cordon: written: $T/a and $T/a.proof"
is "valid for 24 hours" "$(jq -r '((.valid_until | fromdate) - (.time | fromdate))' "$T/a")" 86400
is "with host, kernel and version" "$(jq -r '.host != "" and .kernel != "" and .version != ""' "$T/a")" true
ok "the proof verifies" "$CORDON" ledger verify --proof "$T/a.proof"
is "a file is not written over" "$(status "$CORDON" selftest claims --sign "$T/a")" 125
is "the same file makes the same claims" "$(status "$CORDON" selftest claims --diff "$T/a" "$T/a")" 0
has "signed and valid" "$(cat "$T/out")" "; signed, not expired"
"$CORDON" selftest claims --sign "$T/b" --wall 'auto without landlock' >/dev/null 2>&1
is "without a layer the claims differ" "$(status "$CORDON" selftest claims --diff "$T/a" "$T/b")" 1
has "in the layer" "$(cat "$T/out")" "- layers: landlock"
has "and in what is left" "$(cat "$T/out")" "+ residual: the layer landlock is off"
sed 's/"held":[0-9]*/"held":999/' "$T/a" >"$T/c" && cp "$T/a.proof" "$T/c.proof"
is "a file that was changed is not signed" "$(status "$CORDON" selftest claims --diff "$T/a" "$T/c") $(grep -c 'THE SIGNATURE DOES NOT FIT' "$T/out")" "1 1"
jq -c '.valid_until = "2020-01-01T00:00:00Z"' "$T/a" >"$T/d"
status "$CORDON" selftest claims --diff "$T/a" "$T/d" >/dev/null
has "an old one is no longer valid, and one without a proof is not signed" "$(cat "$T/out")" "not signed, expired"
jq -c 'del(.hardened_against[0].held)' "$T/a" >"$T/e"
status "$CORDON" selftest claims --diff "$T/a" "$T/e" >/dev/null
has "a member that is not there" "$(cat "$T/out")" "-> missing"
: >"$T/key"
for order in "--diff $T/a $T/a --key $T/key" "--key $T/key --diff $T/a $T/a"; do
        # shellcheck disable=SC2086
        is "the key is asked for: ${order%% *} first" "$(status "$CORDON" selftest claims $order) $(grep -c 'DOES NOT FIT' "$T/out")" "1 2"
done
is "two files are needed" "$(status "$CORDON" selftest claims --diff "$T/a")" 125
unset CORDON_STATE
boast='\b(secure|safe|unbreakable)\b'
is "the claims do not boast" "$(printf '%s\n' "$text" | grep -Ei "$boast")" ""
is "the matrix does not boast" "$(grep -Ei "$boast" docs/knockout*.md)" ""
"$CORDON" selftest claims --read "$T" >/dev/null 2>&1
is "doors may be given" $? 0
"$CORDON" selftest claims true >/dev/null 2>&1
is "a command may not" $? 125
ok "the matrix has a date, a kernel and a command" sh -c 'for m in docs/knockout*.md; do grep -q "^- date: 20" "$m" && grep -q "^- kernel: Linux" "$m" && grep -q "^- command: " "$m" || exit 1; done'
is "each matrix and its compiled rows are of one day" "$(sed -n 's/^- date: //p' docs/knockout.md docs/knockout-aarch64.md)" "$(sed -n 's/^#define KNOCKOUT_DATE "\(.*\)"/\1/p' src/selftest/knockout_x86_64.inc src/selftest/knockout_aarch64.inc)"
done_testing
