#!/bin/sh
# `cordon mcp wrap --http`: clients over HTTP share a wrapped server, which was started or is at a URL.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
elsewhere mcp-wrap-http
chmod 777 "$D"
cp "$here/helpers/mcp_evil.py" "$D/"
chmod 644 "$D/mcp_evil.py"
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/helpers/mcp_evil_http.py" "$D/port" >"$D/seen" 2>"$D/trouble" &
server=$!
soon test -s "$D/port"
as_user env CORDON_STATE="$D/state" timeout -k 5 200 python3 "$here/helpers/mcp_wrapped_http.py" "$CORDON" "$D" "$(cat "$D/port")" >"$T/said" 2>"$T/err" </dev/null
is "the clients end well" "$? $(grep -A9 Traceback "$T/err" | tail -n 3)" "0 "
retell "as a user" "$T/said"
kill "$server"
wait "$server" 2>/dev/null
remove "$D"
done_testing
