#!/bin/sh
# `cordon mcp`: boxes for models, in both eras of the protocol, over standard streams and a socket.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
elsewhere mcp
before=$(orphans)
for who in root as_user; do
        mkdir -p "$D/$who/work"
        chmod 777 "$D/$who" "$D/$who/work"
        echo outside >"$D/$who/secret"
        echo kept >"$D/$who/work/kept"
        $who env PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME="$D/$who/state" CORDON_STATE="$D/$who/state" timeout -k 5 120 python3 "$here/helpers/mcp_server.py" "$CORDON" "$D/$who/work" >"$T/said" 2>"$T/err" </dev/null
        is "$who: the client ends well" "$? $(tail -n 3 "$T/err")" "0 "
        retell "$who" "$T/said"
done
ok "nothing is left" none_left
remove "$D"
done_testing
