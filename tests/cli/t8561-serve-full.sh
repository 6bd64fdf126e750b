#!/bin/sh
# A disk that is full under `cordon serve --http`: no request hangs, writes are 507, health and metrics say why, what is in memory is stored when there is
# room again; and a host with too few descriptors holds runs back and fails none.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "a full disk" "curl or jq is missing"; done_testing; }
who=root
[ "$(id -u)" -eq 0 ] || { skip "a full disk" "it takes root to mount one"; done_testing; }
. "$here/helpers/serve.sh"

# ---- few descriptors ----
configure
tenant a
a=$(token a)
echo '{"runs": 100, "queue": 400, "rate": 10000}' >"$C/cordon/serve/tenants/a/tenant.json"
# shellcheck disable=SC3045
limited() { (ulimit -n "$1"; shift; serve "$@"; echo "$serve" >"$T/pid.serve"); serve=$(cat "$T/pid.serve"); pids="$pids $serve"; }
limited 400 --runs 100
has "the server says what its descriptors allow" "$(cat "$T/said")" "descriptors are enough for"
for i in $(seq 60); do run "$a" "{\"argv\":[\"sh\",\"-c\",\"sleep 0.1; echo $i\"],\"wait\":false}" | jq -r .id; done >"$T/ids"
is "all are accepted" "$(grep -c '^r-' "$T/ids")" 60
done_all() { [ "$(http GET '/v1/runs?state=ended&limit=1000' "$a" | jq '.runs | length')" = 60 ]; }
ok "and end" soon done_all
is "none failed for want of a descriptor" "$(http GET '/v1/runs?limit=1000' "$a" | jq -r '[.runs[] | select(.status != 0)] | length')" 0
kill "$serve" && soon gone "$serve"
rm -rf "$C"

# ---- a full disk ----
configure
mkdir -p "$C/cordon" && chmod 700 "$C/cordon"
mount -t tmpfs -o size=12m,mode=700 none "$C/cordon" 2>/dev/null || { skip "a full disk" "no tmpfs can be mounted"; done_testing; }
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; for p in $pids; do soon gone "$p"; done; umount "$C/cordon"; remove "$T"; exit $code' EXIT
tenant a
a=$(token a run,read,files) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --log json
is "a run before" "$(run "$a" '{"argv":["echo","x"]}' | jq -r .stdout)" x
holds=$(run "$a" '{"argv":["sh","-c","sleep 3; seq 100"],"wait":false}' | jq -r .id)
runs() { [ "$(http GET "/v1/runs/$holds" "$a" | jq -r .state)" = running ]; }
soon runs
head -c 14000000 /dev/zero >"$C/cordon/fill" 2>/dev/null
http PUT /v1/files/x "$a" --data-binary "@$CORDON" >/dev/null
is "a file: 507" "$(answered)" 507
run "$a" '{"argv":["echo","x"]}' -H 'Prefer: respond-async' >"$T/body"
is "a run that would have to be stored: 507" "$(answered) $(jq -r .status "$T/body")" "507 507"
degraded() { [ "$(up | jq -r .status)" = degraded ]; }
ok "health says degraded" soon degraded
has "and why" "$(up | jq -r .why)" "No space left"
has "metrics do" "$(http GET /v1/metrics "$admin")" "cordon_degraded 1"
has "and the log, in one line of JSON" "$(jq -rR 'fromjson? | select(.level == "warning") | .text' "$T/said")" "No space left"
over() { [ "$(http GET "/v1/runs/$holds" "$a" | jq -r .state)" = ended ]; }
ok "a run that was under way ends" soon over
is "and is told of" "$(http GET "/v1/runs/$holds" "$a" | jq -j .stdout | wc -l)" 100
run "$a" '{"argv":["echo","x"]}' >"$T/body"
case $(answered) in 200 | 507) ok "a run that is waited for: whole, or 507" true ;; *) ok "a run that is waited for: $(answered) $(cat "$T/body")" false ;; esac
ticks() { for p in $(pgrep -P "$serve") "$serve"; do awk '{ print $14 + $15 }' "/proc/$p/stat"; done 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }
before=$(ticks); sleep 3; after=$(ticks)
ok "nothing spins ($((after - before)) ticks in 3 s)" test $((after - before)) -lt 150
rm "$C/cordon/fill"
well() { [ "$(up | jq -r .status)" = ok ]; }
ok "with room again it is well" soon well
is "and runs" "$(run "$a" '{"argv":["echo","again"]}' | jq -r .stdout)" again
stored() { head -1 "$C/cordon/serve/tenants/a/runs/$holds" | grep -q '"ended"'; }
ok "what was in memory is stored" soon stored
kill -9 "$serve" && soon gone "$serve"
serve
is "and lasts" "$(http GET "/v1/runs/$holds" "$a" | jq -j .stdout | wc -l)" 100
kill "$serve" && soon gone "$serve"
done_testing
