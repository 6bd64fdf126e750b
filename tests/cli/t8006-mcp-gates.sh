#!/bin/sh
# `cordon mcp`: what waits for an approval while a tool runs is asked of the client's user by a form, in both eras; a model cannot answer.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
elsewhere mcp
before=$(orphans)
printf 'use base/system\nrun echo ask\n' >"$D/ask"
printf 'use base/system\nrun echo ask within 1s\n' >"$D/short"
printf 'use base/system\nrun echo ask by 1 of nogroup within 1s\n' >"$D/group"
chmod 755 "$D"
chmod 644 "$D/ask" "$D/short" "$D/group"
for who in root as_user; do
        mkdir -p "$D/$who"
        chmod 777 "$D/$who"
        (cd "$D/$who" && $who env PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME="$D/$who/state" CORDON_STATE="$D/$who/state" timeout -k 5 120 python3 "$here/helpers/mcp_gates.py" "$CORDON" "$D") >"$T/said" 2>"$T/err" </dev/null
        is "$who: the client ends well" "$? $(tail -n 3 "$T/err")" "0 "
        retell "$who" "$T/said"
done
ok "nothing is left" none_left
remove "$D"
done_testing
