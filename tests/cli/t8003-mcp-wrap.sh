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
tools() { as_user env CORDON_STATE="$D/state" timeout 60 "$CORDON" ledger tools "$@" </dev/null 2>"$T/err"; }
if command -v jq >/dev/null; then
        tools --json >"$T/tools"
        is "the table of tools has calls, depth, cost and reach" "$(jq -c '[.[] | select(.tool)] | length > 0 and all(.[]; .depth > 0 and .box != "" and (.reach | IN("self", "tenant", "named", "public"))) and any(.[]; .calls > 0 and .answer_us > 0)' "$T/tools")" true
        is "and what was denied" "$(jq '[.[] | select(.tool) | .denied] | add > 0' "$T/tools")" true
        is "beside the boxes" "$(jq '[.[] | select(.tool == null)] | all(.runs > 0)' "$T/tools")" true
else
        skip "the table of tools" "jq is not installed"
fi
has "as text, too" "$(tools)" "CALLS DENIED LAYERS ANSWER-US"
remove "$D"
done_testing
