#!/bin/sh
# `cordon mcp --http`: both eras over HTTP, who is refused, and the hostile arguments of t8002 over it.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
elsewhere mcp-http
before=$(orphans)
mkdir -p "$D/work"
chmod 777 "$D" "$D/work"
echo SECRETMARK >"$D/secret"
chmod 666 "$D/secret"
echo kept >"$D/work/kept"
for helper in mcp_http mcp_hostile; do
        as_user env PYTHONDONTWRITEBYTECODE=1 CORDON_STATE="$D/state" MCP_HTTP=1 timeout -k 5 120 python3 "$here/helpers/$helper.py" "$CORDON" "$D/work" >"$T/said" 2>"$T/err" </dev/null
        is "$helper: the client ends well" "$? $(tail -n 3 "$T/err")" "0 "
        retell "$helper" "$T/said"
done
ok "nothing is left" none_left
remove "$D"
done_testing
