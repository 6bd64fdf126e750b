#!/bin/sh
# `cordon mcp wrap`: a server of somebody else in a box, with more than forty hostile habits.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
elsewhere mcp-wrap
chmod 777 "$D"
cp "$here/helpers/mcp_evil.py" "$D/"
echo SECRETMARK >"$D/secret"
chmod 644 "$D/mcp_evil.py" "$D/secret"
as_user env PYTHONDONTWRITEBYTECODE=1 CORDON_STATE="$D/state" timeout -k 5 100 python3 "$here/helpers/mcp_wrapped.py" "$CORDON" "$D" >"$T/said" 2>"$T/err" </dev/null
is "the client ends well" "$? $(grep -A3 Traceback "$T/err")" "0 "
while read -r line; do
        case $line in
        "ok "*) pass "${line#ok }" ;;
        *) fail "${line#not ok }" ;;
        esac
done <"$T/said"
remove "$D"
done_testing
