#!/bin/sh
# `cordon serve --http`: who made changes does not approve their apply, however long ago and by whatever way they were made. The overlay
# has its makers.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "approvals over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
R=$C/run && mkdir -m 700 "$R" && { [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$R"; } # boxes are parked
tenant a
person() { cordon serve token new --tenant a --scopes "$1" --as "$2" 2>/dev/null; }
maker=$(person run,read,approve,apply maker) helper=$(person run,read,approve,apply helper) boss=$(person approve,read boss) clerk=$(person approve,read,apply,files clerk)
P=$C/cordon/serve/tenants/a
printf 'use base/system\nedit {work} ask\n' | $who sh -c 'cat >"$1"' sh "$P/policies/edit.cordon"
printf '{"rate":100000,"queue":200}' | $who sh -c 'cat >"$1"' sh "$P/tenant.json"
restart() { kill "$@" "$serve" 2>/dev/null; soon gone "$serve"; serve; }
serve
json='Content-Type: application/json'

# ---- ways to make changes: each sets $change, an overlay of `maker`, and $also, who made them as well ----
by_run() { change=$(run "$maker" "{\"argv\":[\"sh\",\"-c\",\"echo $1 >new\"],\"policy\":\"edit\"}" | jq -r .changes); }
by_run_long_ago() {
        by_run "$1"
        for _ in $(seq 70); do run "$helper" '{"argv":["true"],"wait":false}' >/dev/null; done
        soon all_ended
        http GET "/v1/runs" "$maker" | grep -q "$change" && echo "# it is still known"
}
all_ended() { [ "$(http GET /v1/runs "$maker" | jq '[.runs[] | select(.state != "ended")] | length')" = 0 ]; }
by_run_before_a_restart() { by_run "$1"; restart; }
by_parked_run() { for _ in 1 2 3; do by_run "$1"; done; }
session_of() { session=$(http POST /v1/sessions "$1" -H "$json" -d '{"policy":"edit"}' | jq -r .id); soon is_up; }
is_up() { [ "$(http GET "/v1/sessions/$session" "$maker" | jq -r .state)" = up ]; }
in_session() { run "$1" "{\"argv\":[\"sh\",\"-c\",\"echo $2 >>$P/files/new\"],\"session\":\"$session\"}" >/dev/null; }
end_session() {
        http DELETE "/v1/sessions/$session" "$maker" >/dev/null
        soon is_over
        change=$(http GET "/v1/sessions/$session" "$maker" | jq -r .changes)
}
is_over() { [ "$(http GET "/v1/sessions/$session" "$maker" | jq -r .state)" = ended ]; }
by_session() { session_of "$maker"; in_session "$maker" "$1"; end_session; }
by_session_of_another() { session_of "$helper"; in_session "$maker" "$1"; end_session; also=$helper; }
by_session_before_a_restart() { by_session "$1"; restart; }
by_session_of_a_killed_server() {
        session_of "$helper"
        in_session "$maker" "$1"
        in_session "$helper" "$1"
        change=$(http GET "/v1/sessions/$session" "$maker" | jq -r .run)
        restart -9
        also=$helper
}

waits() { id=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].id // ""') && [ -n "$id" ]; }
answer() {
        http GET "/v1/approvals/$id" "$1" >/dev/null
        http POST "/v1/approvals/$id" "$1" -H "$json" -d "{\"answer\":\"yes\",\"digest\":\"$id\"}" >"$T/body"
        echo "$(answered) $(jq -r '.state // (.type | ltrimstr("urn:cordon:error:"))' <"$T/body")"
}
mkdir "$T/aside"
for way in by_run by_run_long_ago by_run_before_a_restart by_parked_run by_session by_session_of_another by_session_before_a_restart by_session_of_a_killed_server; do
        also=
        $way "$way"
        (T=$T/aside; http POST "/v1/changes/$change/apply" "$clerk" >"$T/applied") &
        applies=$!
        ok "$way: the apply of $change waits" soon waits
        is "$way: who made it does not approve it" "$(answer "$maker")" "403 not-approver"
        [ -z "$also" ] || is "$way: nor who made it as well" "$(answer "$also")" "403 not-approver"
        is "$way: nor who applies it" "$(answer "$clerk")" "403 not-approver"
        is "$way: another person does" "$(answer "$boss")" "200 approved"
        wait "$applies"
        has "$way: and it is applied" "$(http GET /v1/files/new "$clerk")" "$way"
        http DELETE /v1/files/new "$clerk" >/dev/null
done
done_testing
