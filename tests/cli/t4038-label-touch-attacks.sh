#!/bin/sh
# `rule touch`: no way to a shut place goes past its cover, by a user or root in the box, with FUSE or without.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
mkdir "$T/w" "$T/w/hr" && echo secret >"$T/w/hr/a" && cp "$here/helpers/touch_attack.py" "$T/w/attack.py" && chmod -R a+rX "$T/w"
printf 'use base/system\nread %s\nread %s/hr label private:hr\nrun any\nrule touch\n' "$T/w" "$T/w" >"$T/policy" && chmod 644 "$T/policy"
attack() { # WHO OPTION COMMAND...: what got the bytes has the label
        who=$1 as=$2
        shift 2
        for way in resolve_no_xdev unmount remount bind tree handle proc uring fuse overlay rename chroot nested threads; do
                # shellcheck disable=SC2086
                got=$("$@" run -q --time 60s $as -p "$T/policy" --status-fd 3 -- python3 "$T/w/attack.py" "$T/w/hr" "$way" </dev/null 3>"$T/status" 2>"$T/err" | tr '\n' ' ')
                case "$got$(jq -r '.labels // "none"' "$T/status")" in
                *secret*none | none | "") fail "$who: $way" "$got$(cat "$T/status" "$T/err")" ;;
                BEGAN*) pass "$who: $way" ;;
                *) fail "$who: $way" "$got$(cat "$T/status" "$T/err")" ;;
                esac
        done
}
attack root "" "$CORDON"
attack user "" as_user "$CORDON"
attack "root in the box" --root as_user "$CORDON"
if can_hide_fuse; then
        attack "without fuse" "" without_fuse "$CORDON"
else
        skip "without fuse" "only root can take /dev/fuse away"
fi
done_testing
