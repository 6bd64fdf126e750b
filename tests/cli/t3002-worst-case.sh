#!/bin/sh
# What `why` answers and the worst case that `doors` tells are what a prober inside the box reaches: many made-up policies.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
root() { "$@"; }
command -v python3 >/dev/null || { skip "worst cases" "python3 is not installed"; done_testing; }
for who in root as_user; do
        mkdir "$T/$who" && chmod 755 "$T/$who"
        [ $who = root ] || chown 65533:65533 "$T/$who" 2>/dev/null
        $who timeout 250 python3 "$here/helpers/worst.py" "$CORDON" "$T/$who" 25 "${CORDON_SEED:-1}" >"$T/said" 2>"$T/err" </dev/null
        is "$who: the prober ran to its end" "$? $(cat "$T/err")" "0 "
        is "$who: what is told is what is reached" "$(grep -v ' compared, ' "$T/said" | head -n 10)" ""
        reached=$(sed -n 's/.* compared, \([0-9]*\) reached/\1/p' "$T/said")
        ok "$who: some of it was reached, and some was not ($(tail -n 1 "$T/said"))" test "${reached:-0}" -gt 100 -a "${reached:-0}" -lt 900
done
done_testing
