#!/bin/sh
# Backup and restore of `cordon serve --http` as docs/serve.md has it: the directory and the operator's state, unpacked elsewhere, are the same server.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "backup and restore" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
state=$(state_of "$who")
tenant a
a=$(token a run,read,files,policy,vault)
printf 'use base/system\nwrite {work}\n' | $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/a/ceiling.cordon"
serve
http PUT /v1/files/f "$a" -d content >/dev/null
http PUT /v1/policies/mine "$a" -d 'use base/system
write {work}' >/dev/null
id=$(run "$a" '{"argv":["echo","kept"]}' -H 'Idempotency-Key: k1' | jq -r .id)
usage=$(http GET /v1/usage "$a")
for i in 1 2 3; do run "$a" "{\"argv\":[\"sh\",\"-c\",\"sleep 0.2; echo $i >>f\"],\"policy\":\"mine\",\"wait\":false}" >/dev/null; done
kill "$serve" && soon gone "$serve"
http GET /v1/runs "$a" >/dev/null 2>&1
$who tar -cpzf "$T/d/backup.tgz" -C "$C" cordon -C "$state" .
is "its secrets are nobody else's" "$($who tar -tvzf "$T/d/backup.tgz" | grep -E '/(tokens|identity)$|/serve/$' | cut -c5-10 | sort -u)" "------"

# the same user, where nothing is any more
$who rm -r "$C/cordon"
$who find "$state" -mindepth 1 -delete
$who tar -C "$C" -xpzf "$T/d/backup.tgz" cordon
$who tar -C "$state" -xpzf "$T/d/backup.tgz" --exclude cordon
serve
is "the tokens work, and a result is there" "$(http GET "/v1/runs/$id" "$a" | jq -r .stdout)" kept
is "the same key is the same run" "$(run "$a" '{"argv":["echo","kept"]}' -H 'Idempotency-Key: k1' | jq -r .id)" "$id"
all() { [ "$(http GET '/v1/runs?state=ended' "$a" | jq '.runs | length')" = 4 ]; }
ok "what waited runs now" soon all
is "once each" "$($who grep -o '[123]' "$C/cordon/serve/tenants/a/files/f" | sort | xargs)" "1 2 3"
is "policies" "$(http GET /v1/policies "$a" | jq -c .policies)" '["default","mine"]'
is "usage goes on" "$(http GET /v1/usage "$a" | jq '[.hours[].runs] | add')" 4
is "the tenant's ledger verifies" "$(http GET /v1/ledger/verify "$a" | jq .ok)" true
kill "$serve" && soon gone "$serve"
is "and the operator's, with its heads" "$($who "$CORDON" ledger verify --json 2>&1 | jq -c '[.ok, .tenants[0].fits]')" "[true,true]"
done_testing
