#!/bin/sh
# `cordon serve --http`: files in and out, changes and their apply, the vault, the ledger and its proofs, metrics, drain.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
all=run,read,files,apply,approve,vault
a=$(token a $all) b=$(token b $all)
admin=$(cordon serve token new --scopes admin 2>/dev/null)
base=$C/cordon/serve/tenants/a
$who sh -c 'printf "use base/system\nedit {work}\n" >"$1"' sh "$base/policies/edit.cordon"
$who ln -s /etc "$base/files/link"
serve

# files
is "a file goes in" "$(http PUT /v1/files/d/x.txt "$a" --data-binary 'one
two')$(answered)" '{"bytes":7}201'
is "and comes out" "$(http GET /v1/files/d/x.txt "$a" | xargs)" "one two"
is "runs see it" "$(run "$a" '{"argv":["cat","d/x.txt"]}' | jq -r .stdout | xargs)" "one two"
is "directories are listed" "$(http GET /v1/files "$a" | jq -c '[.entries[] | [.name,.kind]] | sort')" '[["d","directory"],["link","symlink"]]'
for p in link/passwd link d/../../../tenant.json %2e%2e/tenant.json d%2f..%2f..%2ftenant.json /etc/passwd d//x.txt; do
        http GET "/v1/files/$p" "$a" --path-as-is >"$T/body"
        case $(answered) in 400 | 403 | 404) pass "no way out by $p" ;; *) fail "no way out by $p" "$(answered)" "$(cat "$T/body")" ;; esac
done
http PUT /v1/files/link/x "$a" -d x >/dev/null
is "nor to write" "$(answered)" 403
http GET /v1/files/d/x.txt "$b" >/dev/null
is "another tenant has files of its own" "$(answered)" 404

# changes
change=$(run "$a" '{"argv":["sh","-c","echo three >>d/x.txt"],"policy":"edit"}' | jq -r .changes)
is "a change waits" "$(http GET /v1/files/d/x.txt "$a" | wc -l) $(http GET /v1/changes "$a" | jq 'length > 0')" "1 true"
has "it is shown" "$(http GET "/v1/changes/$change?form=text" "$a")" "+twothree"
http GET "/v1/changes/$change" "$b" >/dev/null
is "to its tenant" "$(answered)" 404
http POST "/v1/changes/$change/apply" "$b" >/dev/null
is "another one does not apply it" "$(answered)" 404
http POST "/v1/changes/$change/apply" "$a" >/dev/null
is "its own does" "$(answered) $(http GET /v1/files/d/x.txt "$a" | tail -n 1)" "200 twothree"
http POST "/v1/changes/$change/undo" "$a" >/dev/null
is "and reverts it" "$(answered) $(http GET /v1/files/d/x.txt "$a" | tail -n 1)" "200 two"
http DELETE "/v1/changes/$change" "$a" >/dev/null
is "and discards it" "$(answered)" 200
http DELETE /v1/files/d/x.txt "$a" >/dev/null
http DELETE /v1/files/d "$a" >/dev/null
is "files are removed" "$(answered) $(http GET /v1/files "$a" | jq -r '.entries[].name')" "200 link"

# vault
if [ -x "$T/libexec/cordon-vault" ]; then
        http PUT /v1/vault/key "$a" -d '{"secret":"s3cret-value-1","env":"KEY","scope":"https://api.test/** GET"}' >"$T/body"
        is "a credential is stored" "$(answered) $(cat "$T/body")" "201 {}"
        has "its name is listed" "$(http GET /v1/vault "$a")" '"key"'
        hasnt "its secret is not" "$(http GET /v1/vault "$a")" "s3cret"
        hasnt "nor to another tenant its name" "$(http GET /v1/vault "$b")" '"key"'
        http DELETE /v1/vault/key "$a" >/dev/null
        is "and removed" "$(answered)" 200
else
        skip "the vault" "cordon-vault is not built"
fi

# ledger
run "$a" '{"argv":["true"]}' >"$T/body"
id=$(jq -r .run <"$T/body")
has "records of a run" "$(http GET "/v1/ledger?run=$id&last=50" "$a" | jq -r '.records[].run' | sort -u)" "$id"
is "not of another tenant" "$(http GET "/v1/ledger?run=$id" "$b" | jq -c .records)" "[]"
record=$(http GET "/v1/ledger?run=$id" "$a" | jq -r '.records[0].id')
proven() { http GET "/v1/ledger/$record/proof" "$a" >"$T/proof" && [ "$(answered)" = 200 ]; }
ok "a proof of one" soon proven
http GET /v1/ledger/keys "$a" >"$T/keys"
chmod 644 "$T/keys" "$T/proof"
ok "anyone can check it" cordon ledger verify --key "$T/keys" --proof "$T/proof"
has "its causes" "$(http GET "/v1/ledger/$record/trace" "$a")" "$record"
is "the ledger verifies" "$(http GET /v1/ledger/verify "$a" | jq -r .ok)" true
has "a checkpoint" "$(http GET /v1/ledger/checkpoint "$a" | head -n 1)" cordon

# the host
has "metrics of a tenant" "$(http GET /v1/metrics "$a")" 'cordon_runs_started_total{tenant="a"} '
hasnt "are its own" "$(http GET /v1/metrics "$b")" 'tenant="a"'
has "the operator has all" "$(http GET /v1/metrics "$admin")" 'tenant="b"'
http GET /v1/tenants "$a" >/dev/null
is "the host is not a tenant's" "$(answered)" 403
http GET /v1/runs "$admin" >/dev/null
is "nor a tenant the host's" "$(answered)" 403
run "$a" '{"argv":["sleep","100"],"wait":false}' >"$T/body"
id=$(jq -r .id <"$T/body")
http POST /v1/drain "$admin" >/dev/null
is "it drains" "$(answered)" 202
run "$a" '{"argv":["true"]}' -D "$T/head" >/dev/null
is "it starts no more runs" "$(answered) $(grep -c -i '^Retry-After' "$T/head")" "503 1"
http DELETE "/v1/runs/$id" "$a" >/dev/null
ok "and ends with the last" soon gone "$serve"
done_testing
