#!/bin/sh
# Who may answer what over HTTP and MCP: each kind of effect that waits there, and each holder of a token, process or client that could
# try to answer it. Who asked, whose session it is, who has the change applied: none of them; then another person does. On the host: t4063.
# shellcheck disable=SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v curl >/dev/null && command -v jq >/dev/null || { skip "approvals over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
person() { cordon serve token new --tenant "$1" --scopes "$2" --as "$3" 2>/dev/null; }
all=run,read,files,apply,approve
maker=$(person a "$all" maker) again=$(person a approve,read maker) owner=$(person a "$all" owner) clerk=$(person a "$all" clerk)
boss=$(person a approve,read boss) reader=$(person a read,run,apply,files reader) stranger=$(person b "$all" stranger) same=$(person b "$all" boss)
admin=$(cordon serve token new --scopes admin --as operator 2>/dev/null)
P=$C/cordon/serve/tenants/a
policy() { $who sh -c 'cat >"$1"' sh "$P/policies/$1.cordon"; }
printf 'use base/system\nread {work}\nrun echo ask\n' | policy start
printf 'use base/system\nedit {work} ask\n' | policy edit
printf 'use base/system\nuse base/python3\nsock %s ask\n' "$T/d/s" | policy sock
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'use base/system\nuse base/python3\nlisten %s ask\n' "$port" | policy listen
serve
json='Content-Type: application/json'
begin() { run "$1" "$2" | jq -r .id; }
ended() { [ "$(http GET "/v1/runs/$job" "$maker" | jq -r .state)" = ended ]; }
went_in_run() { soon ended && http GET "/v1/runs/$job" "$maker" | jq -r '.stdout // ""' | grep -c went; }
session() { session=$(http POST /v1/sessions "$1" -H "$json" -d "{\"policy\":\"$2\"}" | jq -r .id); }
is_up() { [ "$(http GET "/v1/sessions/$session" "$maker" | jq -r .state)" = up ]; }
end_session() { http DELETE "/v1/sessions/$session" "$owner" >/dev/null; }

# ---- what waits: begins, and `went_KIND` says whether it happened; $not has those who asked for it ----
what_run() { not="maker again" job=$(begin "$maker" '{"argv":["echo","went"],"policy":"start","wait":false}'); }
went_run() { went_in_run; }
what_session() { not="owner"; session "$owner" start; }
went_session() { soon is_up && echo 1; end_session; }
connects='import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"'"$T/d/s"'\"); print(s.recv(9).decode())'
listens() { # in the background
        rm -f "$T/d/s"
        $who python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.bind('$T/d/s'); s.listen(); s.settimeout(300); s.accept()[0].sendall(b'went')" 2>/dev/null &
        pids="$pids $!"
        soon test -S "$T/d/s"
}
what_sock() { listens && not="maker again" job=$(begin "$maker" "{\"argv\":[\"python3\",\"-c\",\"$connects\"],\"policy\":\"sock\",\"wait\":false}"); }
went_sock() { went_in_run; }
# In a session of another person: neither the one nor the other.
hears='import socket; s = socket.create_server((\"127.0.0.1\", '"$port"')); c, _ = s.accept(); print(c.recv(9).decode())'
what_listen_in_session() {
        session "$owner" listen && soon is_up
        not="maker again owner" job=$(begin "$maker" "{\"argv\":[\"python3\",\"-c\",\"$hears\"],\"session\":\"$session\",\"wait\":false}")
        python3 -c "
import socket
socket.create_connection(('127.0.0.1', $port)).sendall(b'went')" 2>/dev/null &
}
went_listen_in_session() { went_in_run; end_session; }
mkdir "$T/aside" # a request beside the others has a status of its own
applies() {
        (T=$T/aside; http POST "/v1/changes/$change/apply" "$clerk" >"$T/applied") &
        applied=$!
}
landed() { http GET /v1/files/new "$clerk" | grep -q went; }
went_apply() { soon landed; http GET /v1/files/new "$clerk" | grep -c went; http DELETE /v1/files/new "$clerk" >/dev/null; }
what_apply() {
        change=$(run "$maker" '{"argv":["sh","-c","echo went >new"],"policy":"edit"}' | jq -r .changes)
        not="maker again clerk" && applies
}
what_apply_of_session() {
        session "$owner" edit && soon is_up
        run "$maker" "{\"argv\":[\"sh\",\"-c\",\"echo went >$P/files/new\"],\"session\":\"$session\"}" >/dev/null
        end_session
        is_over() { [ "$(http GET "/v1/sessions/$session" "$maker" | jq -r .state)" = ended ]; }
        soon is_over
        change=$(http GET "/v1/sessions/$session" "$maker" | jq -r .changes)
        not="maker again owner clerk" && applies
}
went_apply_of_session() { went_apply; }

# ---- who tries: NAME STATUS CODE ----
cat >"$T/who" <<'W'
reader   403 scope
stranger 404 not-pending
same     404 not-pending
admin    403 scope
nobody   401 token
W
nobody=none
waits() { id=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].id // ""') && [ -n "$id" ]; }
answer() { # TOKEN: looks, as far as it may, and says yes
        http GET "/v1/approvals/$id" "$1" >/dev/null
        http POST "/v1/approvals/$id" "$1" -H "$json" -d "{\"answer\":\"yes\",\"digest\":\"$id\"}" >"$T/body"
        echo "$(answered) $(jq -r '.state // (.type | ltrimstr("urn:cordon:error:"))' <"$T/body")"
}
approver() { $who python3 -I "$T/d/approver.py" "$@" 2>/dev/null | tr -d '\r' | jq -r '.code // "nothing"'; }
cp "$here/helpers/approver.py" "$T/d/approver.py" && chmod 644 "$T/d/approver.py"
for what in run session sock listen_in_session apply apply_of_session; do
        "what_$what"
        if ! soon waits; then
                fail "$what waits" "$(cat "$T/said")"
                continue
        fi
        for name in $not; do
                eval "token=\$$name"
                is "$what: $name asked for it" "$(answer "$token")" "403 not-approver"
        done
        while read -r name code; do
                eval "token=\$$name"
                is "$what: $name has no say" "$(answer "$token")" "$code"
        done <"$T/who"
        is "$what: nor has a process of the server's user without a terminal" "$(approver answer "id=\"$id\"" yes=true | sort -u | grep -v -x -e no-terminal -e not-pending -e closed)" ""
        is "$what: it still waits" "$(http GET /v1/approvals "$boss" | jq -r '.approvals[].id')" "$id"
        is "$what: another person is heard" "$(answer "$boss")" "200 approved"
        is "$what: then it happens" "$("went_$what")" 1
        is "$what: and is not answered twice" "$(answer "$boss")" "404 not-pending"
done

# ---- MCP: one client asks, others of the same server answer ----
printf 'use base/system\nrun echo ask\n' >"$T/d/ask"
printf 'use base/system\nedit {work} ask\n' >"$T/d/edit"
printf 'use base/system\nedit {work}\n' >"$T/d/free"
chmod 644 "$T/d/ask" "$T/d/edit" "$T/d/free"
(cd "$T/d" && $who env PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME="$T/d/mcp" CORDON_STATE="$T/d/mcp" timeout -k 5 200 python3 "$here/helpers/mcp_answers.py" "$CORDON" "$T/d") >"$T/said" 2>"$T/err" </dev/null
is "the clients end well" "$? $(tail -n 3 "$T/err")" "0 "
retell mcp "$T/said"
done_testing
