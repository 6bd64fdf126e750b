#!/bin/sh
# Everyday command lines (tests/everyday/rows) as people type them, as root and as an ordinary user: each works at the first
# try, or with the hint that it prints. What is not installed here is skipped; `make everyday` installs all of it.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=as_user
command -v python3 >/dev/null || { skip "everyday command lines" "python3 is not installed"; done_testing; }
cp -r "$here/../everyday" "$T/everyday" && chmod -R a+rX "$T/everyday"
cd "$T" || exit 1
for who in $whos; do
        $who env CORDON="$CORDON" CORDON_LIBEXEC="$CORDON_LIBEXEC" python3 "$T/everyday/run" --tap >"$who.tap" 2>"$who.err"
        cp "$who.tap" "$who.all"
        while IFS= read -r line; do
                row=${line#*ok * - } && name=${row%% *}
                case $line in
                "not ok "*) fail "$who: $row" "$(awk -v l="$line" '$0 == l { on = 1; next } !/^#/ { on = 0 } on' "$who.all")" ;;
                "ok "*"# SKIP "*) skip "$who: $name" "${line#*# SKIP }" ;;
                "ok "*) pass "$who: $row" ;;
                esac
        done <"$who.tap"
        first=$(sed -n 's/^# cordon: \([0-9]*\) at the first try.*/\1/p' "$who.tap") second=$(grep -c '(second try)$' "$who.tap")
        ok "$who: of a hundred at least ninety-five work at the first try (${first:-0}, at the second $second)" \
                test "${first:-0}" -gt 0 -a $((second * 95)) -le $((${first:-0} * 5))
done
done_testing
