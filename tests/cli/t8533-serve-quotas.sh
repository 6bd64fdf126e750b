#!/bin/sh
# Quotas of `cordon serve --http` are a tree: what one box that stays may run at once is of its tenant's, and that of the host's.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "quotas" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
printf '{"runs": 3, "queue": 9, "rate": 1000, "session_runs": 1}' | $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/a/tenant.json"
a=$(token a) b=$(token b)
serve --runs 4
session() { http POST /v1/sessions "$a" -H 'Content-Type: application/json' -d '{}' | jq -r .id; }
later() { run "$1" "{\"argv\":[\"sleep\",\"8533\"],${2:+\"session\":\"$2\",}\"wait\":false}" | jq -r .id; }
state() { http GET "/v1/runs/$2" "$1" | jq -r .state; }
runs() { [ "$(state "$1" "$2")" = running ]; }
end() { http DELETE "/v1/runs/$2" "$1" >/dev/null; }
one=$(session) two=$(session)
first=$(later "$a" "$one")
ok "a run in a box" soon runs "$a" "$first"
second=$(later "$a" "$one")
other=$(later "$a" "$two")
ok "a run in another box does not wait for the one that its box is too full for" soon runs "$a" "$other"
alone=$(later "$a")
ok "nor does one in a box of its own" soon runs "$a" "$alone"
is "which waits" "$(state "$a" "$second")" queued
more=$(later "$a")
is "the tenant has no more than its own" "$(state "$a" "$more")" queued
theirs=$(later "$b")
ok "another tenant has the rest of the host" soon runs "$b" "$theirs"
end "$a" "$other"
ok "what one box gives back" soon runs "$a" "$more"
is "is not the other's" "$(state "$a" "$second")" queued
last=$(later "$b")
is "the host has no more than four" "$(state "$b" "$last")" queued
end "$a" "$alone"
ok "what a tenant gives back" soon runs "$b" "$last"
end "$a" "$first"
ok "each run that ends makes room in its own" soon runs "$a" "$second"
kill "$serve" && soon gone "$serve"
done_testing
