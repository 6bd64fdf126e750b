#!/bin/sh
# `cordon serve --http` parks as many boxes of a plan as its runs need at once, and no more than `parked` in tenant.json.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
who=as_user
. "$here/helpers/serve.sh"
configure
R=$C/run
$who mkdir -m 700 "$R"
tenant free one none
base=$C/cordon/serve/tenants
for t in free one none; do
        printf 'use base/system\nlimit time 2m\n' | $who sh -c 'cat >"$1"' sh "$base/$t/policies/plain.cordon"
        printf 'use base/system\nread {work}\n' | $who sh -c 'cat >"$1"' sh "$base/$t/policies/other.cordon"
done
limit() { printf '{"runs": 64, "rate": 100000%s}' "$2" | $who sh -c 'cat >"$1"' sh "$base/$1/tenant.json"; }
limit free ''
limit one ', "parked": 1'
limit none ', "parked": 0'
free=$(token free) one=$(token one) none=$(token none) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --runs 64 --boxes 12

# plan TENANT POLICY: what the pool has for it
plan() { http GET /v1/pool "$admin" | jq -c --arg p "tenants/$1/policies/$2.cordon" '[.plans[] | select(.policy | endswith($p))][0] // empty'; }
size() { plan "$1" "$2" | jq .size; }
full() { [ "$(plan "$1" "$2" | jq '.size == .ready')" = true ]; }
start() { run "$1" "{\"argv\":[\"true\"],\"policy\":\"$2\"}" | jq -r .start; }
parked() { [ "$(start "$1" "$2")" = parked ]; }
if ! soon parked "$free" plain; then
        skip "parked boxes" "none was parked here"
        done_testing
fi

# burst TENANT TOKEN: when all are ready, more runs at once than there are boxes
url=http://localhost/v1/runs
burst() {
        soon full "$1" plain
        curl -sS -Z --max-time 60 --unix-socket "$S" -H "Authorization: Bearer $2" -H 'Content-Type: application/json' -d '{"argv":["true"],"policy":"plain"}' \
                $url $url $url $url $url $url $url $url $url $url $url $url >"$T/body" 2>&1
}
grown() {
        burst free "$free"
        [ "$(size free plain)" -gt 2 ]
}
is "a plan begins with two" "$(size free plain)" 2
ok "runs that find none at once make it more" soon grown
ok "and those are parked" soon full free plain
is "its age and use are reported" "$(plan free plain | jq -r '[.age_s, .unused_s, .hits, .misses | type] | unique[]')" number

ok "a tenant with \"parked\": 1 has parked boxes, too" soon parked "$one" plain
burst one "$one"
burst one "$one"
is "one at most" "$(size one plain)" 1
ok "of all its plans together" soon parked "$one" other
is "the older one goes" "$(plan one plain)" ""

is "\"parked\": 0 is none" "$(start "$none" plain) $(start "$none" plain) $(start "$none" plain) $(plan none plain)" "cold cold cold "
ok "never more than --boxes" test "$(http GET /v1/pool "$admin" | jq '[.plans[].size] | add')" -le 12
http GET /v1/pool "$free" >/dev/null
is "a tenant does not see the pool" "$(answered)" 403
done_testing
