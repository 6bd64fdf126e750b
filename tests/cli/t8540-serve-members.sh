#!/bin/sh
# `cordon serve --http`: on every route a member of the body that is unknown or has another type is an error that names it, and
# nothing happens. The routes and their members are those of /v1/openapi.json.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
a=$(token a run,read,files,policy,vault,apply,approve) admin=$(cordon serve token new --scopes admin 2>/dev/null)
base=$C/cordon/serve/tenants/a
serve
send() { http "$1" "$2" "$3" -H 'Content-Type: application/json' -d "$4" >"$T/body"; }
http GET /v1/openapi.json "$a" >"$T/api"

# METHOD PATH MEMBER TYPE, and with MEMBER - the route itself
jq -r '. as $api | def known: if has("$ref") then $api.components.schemas[."$ref" | split("/")[-1]] else . end;
        .paths | to_entries[] | .key as $p | .value | to_entries[] | select(.key == "post" or .key == "put") | .key as $m | .value |
        (.requestBody.content // {}) as $c |
        select(($c | length) == 0 or $c["application/json"] != null) |
        (($c["application/json"].schema // {}) | known) as $s |
        "\($m | ascii_upcase) \($p) - -", (($s.properties // {}) | to_entries[] | "\($m | ascii_upcase) \($p) \(.key) \(.value.type // "string")")' "$T/api" >"$T/rows"
for route in "POST /v1/runs" "POST /v1/sessions" "PUT /v1/vault/{id}" "POST /v1/changes/{id}/apply" "POST /v1/changes/{id}/undo" "POST /v1/approvals/{id}" \
        "POST /v1/policies/{id}/rollback" "POST /v1/policies/{id}/promote" "POST /v1/images" "POST /v1/drain"; do
        ok "$route is walked" grep -q -x -F -e "$route - -" "$T/rows"
done
# a body that has all that is needed, so that only the one member is wrong
whole() {
        case $1 in
        /v1/runs) echo '"argv":["true"],' ;;
        /v1/images) echo '"file":"x",' ;;
        /v1/tenants) echo '"name":"x",' ;;
        /v1/vault/*) echo '"secret":"Secret0fTheServer99",' ;;
        /v1/approvals/*) echo '"digest":"d","answer":"no",' ;;
        esac
}
wrong() { # of each type, values of all others
        case $1 in
        string) echo '["a"] 5 true null {}' ;;
        integer) echo '"5" true null ["5"] 1.5' ;;
        boolean) echo '"true" 1 null []' ;;
        array) echo '"true" 5 true null {} [5]' ;;
        esac
}
while read -r method path member type; do
        at=$(echo "$path" | sed 's/{id}/job/')
        t=$a
        case $path in /v1/drain | /v1/tenants* | /v1/tokens*) t=$admin ;; esac
        if [ "$member" = - ]; then
                send "$method" "$at" "$t" "{$(whole "$at")\"odd\":1}"
                is "$method $path: an unknown member" "$(answered)" 422
                has "$method $path: is named" "$(jq -r .detail <"$T/body")" '`odd`'
                send "$method" "$at" "$t" '[]'
                is "$method $path: a list is no body" "$(answered)" 422
                continue
        fi
        for value in $(wrong "$type"); do
                body=$(printf '{%s"odd":0}' "$(whole "$at")" | jq -c --argjson v "$value" "del(.odd) | .[\"$member\"] = \$v")
                send "$method" "$at" "$t" "$body"
                is "$method $path: $member is no $value" "$(answered) $(jq -r .detail <"$T/body" | grep -c "\`$member\` is ")" "422 1"
        done
done <"$T/rows"
is "the server does not drain" "$(http GET /v1/health "$a" | jq -r .status)" ok
is "no credential was stored" "$(http GET /v1/vault "$a" | jq -c .)" "[]"
is "no run started" "$(http GET /v1/runs "$a" | jq -c .runs)" "[]"
is "no session either" "$(http GET /v1/sessions "$a" | jq -c .sessions)" "[]"

# a credential is for what its scope says, or is not stored
key() { send PUT "/v1/vault/$1" "$a" "$2"; answered; }
is "for, the word of the command line" "$(key k '{"secret":"Secret0fTheServer99","for":"https://a.example/** GET"}')" 422
is "a scope that is empty" "$(key k '{"secret":"Secret0fTheServer99","scope":""}')" 422
is "a lifetime that is past" "$(key k '{"secret":"Secret0fTheServer99","ttl":-1}')" 422
is "a scope" "$(key k '{"secret":"Secret0fTheServer99","scope":"https://a.example/** GET","header":"X-Key: {}"}')" 201
has "is kept" "$(http GET /v1/vault "$a")" "a.example"
is "a rotation does not take what it would not change" "$(key k '{"secret":"Secret0fTheServer98","rotate":true,"header":"X-Other: {}"}')" 422
is "and takes the rest" "$(key k '{"secret":"Secret0fTheServer98","rotate":true,"ttl":60}')" 200

# the operator's settings
for text in '{"runs":"4"}' '{"rnus":4}' '{"share":"false"}' '{"rate":-1}' '[]'; do
        echo "$text" | $who sh -c 'cat >"$1"' sh "$base/tenant.json"
        http GET /v1/runs "$a" >/dev/null
        is "tenant.json $text does not load" "$(answered)" 503
done
has "the operator is told which member" "$(cat "$T/said")" '`rnus`'
done_testing
