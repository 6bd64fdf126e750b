#!/bin/sh
# /v1/openapi.json: no answer is an untyped object, and what the server answers is what it says, on every route that answers JSON.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
for p in curl jq python3; do command -v $p >/dev/null || { skip "types of answers" "$p is missing"; done_testing; }; done
python3 -c 'import jsonschema' 2>/dev/null || { skip "types of answers" "python3-jsonschema is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
a=$(token a run,read,files,policy,vault,apply,approve) admin=$(cordon serve token new --scopes admin 2>/dev/null)
boss=$(cordon serve token new --tenant a --scopes approve --as boss 2>/dev/null)
base=$C/cordon/serve/tenants/a
write() { $who sh -c 'cat >"$1"' sh "$1"; }
printf 'use base/system\nedit {work}\nlimit time 10m\n' | write "$base/ceiling.cordon"
printf 'use base/system\nedit {work}\nlimit time 1m\n' | write "$base/policies/ed.cordon"
printf 'use base/system\nedit {work} ask\nlimit time 1m\n' | write "$base/policies/asks.cordon"
serve
mkdir "$T/answers"
N_=0
# see METHOD ROUTE TOKEN PATH [OPTION]...: keeps the answer, and prints it
see() {
        s_method=$1 s_route=$2 s_token=$3 s_path=$4
        shift 4
        N_=$((N_ + 1))
        http "$s_method" "$s_path" "$s_token" "$@" >"$T/body"
        { echo "$s_method $s_route $(answered)"; cat "$T/body"; } >"$T/answers/$(printf %03d $N_)"
        cat "$T/body"
}
json() { see "$1" "$2" "$3" "$4" -H 'Content-Type: application/json' -d "$5"; }
{
        see GET /v1/openapi.json "$a" /v1/openapi.json
        see GET /v1/health "$a" /v1/health
        see GET /v1/token "$a" /v1/token
        see GET /v1/token "$admin" /v1/token
        json POST /v1/token "$a" /v1/token '{}'
        see PUT '/v1/files/{path}' "$a" /v1/files/d/x -d hello
        see GET /v1/files "$a" /v1/files
        see GET '/v1/files/{path}' "$a" /v1/files/d
        see GET '/v1/files/{path}' "$a" /v1/files/none
        see PUT '/v1/files/{path}' "$a" /v1/files/z -d 1
        see DELETE '/v1/files/{path}' "$a" /v1/files/z
        json POST /v1/runs "$a" /v1/runs '{"argv":["sh","-c","echo new >y; echo more >>d/x; ln -s x l; printf \\\\000 >b; curl -s http://example.com"],"policy":"ed","labels":{"a":"b"}}'
} >/dev/null
change=$(jq -r .changes "$T/body") id=$(jq -r .id "$T/body")
{
        json POST /v1/runs "$a" /v1/runs '{"argv":[]}'
        see GET '/v1/runs/{id}' "$a" "/v1/runs/$id"
        see GET /v1/runs "$a" '/v1/runs?limit=1'
        json POST /v1/runs "$a" /v1/runs '{"argv":["sleep","60"],"wait":false}'
        long=$(jq -r .id "$T/body")
        see GET '/v1/runs/{id}' "$a" "/v1/runs/$long"
        see GET /v1/runs "$a" '/v1/runs?limit=1'
        see DELETE '/v1/runs/{id}' "$a" "/v1/runs/$long"
        see GET /v1/changes "$a" /v1/changes
        see GET '/v1/changes/{id}' "$a" "/v1/changes/$change"
        json POST '/v1/changes/{id}/apply' "$a" "/v1/changes/$change/apply" '{}'
        json POST '/v1/changes/{id}/undo' "$a" "/v1/changes/$change/undo" '{}'
        see DELETE '/v1/changes/{id}' "$a" "/v1/changes/$change"
        see PUT '/v1/policies/{id}' "$a" /v1/policies/job -d 'use base/system'
        see PUT '/v1/policies/{id}' "$a" '/v1/policies/job?share=10' -d 'use base/system
read {work}'
        see GET '/v1/policies/{id}' "$a" /v1/policies/job
        json POST '/v1/policies/{id}/promote' "$a" /v1/policies/job/promote '{}'
        json POST '/v1/policies/{id}/rollback' "$a" /v1/policies/job/rollback '{}'
        see GET /v1/policies "$a" /v1/policies
        json PUT '/v1/vault/{id}' "$a" /v1/vault/k '{"secret":"Secret0fTheServer99","env":"K","scope":"https://example.org/**"}'
        see GET /v1/vault "$a" /v1/vault
        see DELETE '/v1/vault/{id}' "$a" /v1/vault/k
        json POST /v1/sessions "$a" /v1/sessions '{}'
        s=$(jq -r .id "$T/body")
        see GET /v1/sessions "$a" /v1/sessions
        see GET '/v1/sessions/{id}' "$a" "/v1/sessions/$s"
        see DELETE '/v1/sessions/{id}' "$a" "/v1/sessions/$s"
        see GET /v1/ledger "$a" '/v1/ledger?last=200'
        rec=$(jq -r '.records[0].id' "$T/body")
        see GET '/v1/ledger/{id}/trace' "$a" "/v1/ledger/$rec/trace"
        see GET /v1/ledger/verify "$a" /v1/ledger/verify
        see GET /v1/tenants "$admin" /v1/tenants
        see GET /v1/pool "$admin" /v1/pool
        see GET /v1/audits "$admin" /v1/audits
        see GET /v1/images "$a" /v1/images
        see GET /v1/usage "$a" /v1/usage
        json POST /v1/tenants "$admin" /v1/tenants '{"name":"other"}'
        json PUT '/v1/tenants/{id}/settings' "$admin" /v1/tenants/other/settings '{"runs":2}'
        see PUT '/v1/tenants/{id}/ceiling' "$admin" /v1/tenants/other/ceiling -d 'use base/system'
        json POST /v1/tokens "$admin" /v1/tokens '{"tenant":"other"}'
        other=$(jq -r .id "$T/body")
        see GET /v1/tokens "$admin" /v1/tokens
        see DELETE '/v1/tokens/{id}' "$admin" "/v1/tokens/$other"
} >/dev/null
if [ -x "$T/libexec/cordon-unpack" ] && python3 "$here/helpers/image.py" tool "$T/tool.tar"; then
        see POST /v1/images "$a" /v1/images -H 'Content-Type: application/octet-stream' --data-binary "@$T/tool.tar" >/dev/null
        image=$(jq -r .id "$T/body")
        { see GET /v1/images "$a" /v1/images; see DELETE '/v1/images/{id}' "$a" "/v1/images/$image"; } >/dev/null
fi
# an approval: of the apply of changes
json POST /v1/runs "$a" /v1/runs '{"argv":["sh","-c","echo z >z"],"policy":"asks"}' >/dev/null
change=$(jq -r .changes "$T/body")
curl -sS --max-time 60 --unix-socket "$S" -X POST -H "Authorization: Bearer $a" -H 'Content-Type: application/json' -d '{}' "http://localhost/v1/changes/$change/apply" >"$T/applied" &
waiting=$!
waits() { http GET /v1/approvals "$boss" | jq -e '.approvals[0].id' >"$T/id"; }
ok "something waits for an approval" soon waits
digest=$(jq -r . "$T/id")
{
        see GET /v1/approvals "$boss" /v1/approvals
        see GET '/v1/approvals/{id}' "$boss" "/v1/approvals/$digest"
        json POST '/v1/approvals/{id}' "$boss" "/v1/approvals/$digest" "{\"answer\":\"no\",\"digest\":\"$digest\"}"
        see DELETE '/v1/approvals/{id}' "$boss" "/v1/approvals/$digest"
} >/dev/null
wait "$waiting"
json POST /v1/drain "$admin" /v1/drain '{}' >/dev/null
http GET /v1/openapi.json "$a" >"$T/api" 2>/dev/null || :
cp "$T/answers/001" "$T/first" && tail -n +2 "$T/first" >"$T/api"
python3 "$here/helpers/serve_types.py" "$T/api" "$T/answers" >"$T/out" 2>&1
is "no answer is untyped, and none is another" "$(grep -v '^not seen:' "$T/out")" ""
is "every route was asked" "$(sed -n 's/^not seen: *//p' "$T/out")" ""
done_testing
