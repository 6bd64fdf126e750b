#!/bin/sh
# `cordon mcp wrap --url`: a server over HTTP, both eras, with more than forty hostile habits.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
elsewhere mcp-wrap-url
chmod 777 "$D"
export PYTHONDONTWRITEBYTECODE=1
python3 "$here/helpers/mcp_evil_http.py" "$D/port" >"$D/seen" 2>"$D/trouble" &
server=$!
soon test -s "$D/port"
chmod 644 "$D/seen" "$D/port"
as_user env XDG_CONFIG_HOME="$D/config" CORDON_STATE="$D/state" timeout -k 5 200 python3 "$here/helpers/mcp_wrapped_url.py" "$CORDON" "$(cat "$D/port")" "$D/seen" >"$T/said" 2>"$T/err" </dev/null
is "the client ends well" "$? $(grep -A9 Traceback "$T/err" | tail -n 3)" "0 "
retell "as a user" "$T/said"
kill "$server"
wait "$server" 2>/dev/null
remove "$D"
done_testing
