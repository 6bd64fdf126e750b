#!/bin/sh
# Tenants, their settings and ceilings, and tokens by API with the scope admin and no other; what tenants used, hour by hour, across restarts.
# shellcheck disable=SC2034,SC2089,SC2090
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "administration by API" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
a=$(token a run,read,files,apply,approve,vault,policy) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve
json() { http "$1" "$2" "$3" -H 'Content-Type: application/json' -d "$4"; }

# with every scope but admin there is nothing of it
for row in 'POST /v1/tenants {"name":"x"}' 'PUT /v1/tenants/a/settings {"runs":9}' 'GET /v1/tokens' 'POST /v1/tokens {"tenant":"a"}' 'DELETE /v1/tokens/x' 'GET /v1/tenants'; do
        # shellcheck disable=SC2086
        set -- $row
        json "$1" "$2" "$a" "${3-}" >/dev/null
        is "without admin: $1 $2" "$(answered)" 403
done

is "a tenant" "$(json POST /v1/tenants "$admin" '{"name":"new"}' | jq -r .name) $(answered)" "new 201"
json POST /v1/tenants "$admin" '{"name":"new"}' >/dev/null
is "again: 409" "$(answered)" 409
for name in ../x '' a/b .. ' '; do
        json POST /v1/tenants "$admin" "{\"name\":\"$name\"}" >/dev/null
        is "no name: '$name'" "$(answered)" 422
done
json POST /v1/tokens "$admin" '{"tenant":"new","scopes":["run","read"],"person":"ann","expires_s":3600}' >"$T/body"
is "a token" "$(answered)" 201
n=$(jq -r .token "$T/body") id=$(jq -r .id "$T/body")
is "which works at once" "$(run "$n" '{"argv":["echo","x"]}' | jq -r '.stdout + .person' | xargs)" "x ann"
has "tokens are listed" "$(http GET /v1/tokens "$admin" | jq -r '.tokens[] | .id + " " + .tenant')" "$id new"
hasnt "without their secrets" "$(http GET /v1/tokens "$admin")" "$n"
for body in '{"tenant":"nobody"}' '{"tenant":"new","scopes":["admin"]}' '{"scopes":["run"]}' '{"tenant":"new","scopes":["root"]}' '{"tenant":"new","scopes":[]}' \
        '{"tenant":"new","expires_s":0}' '{"tenant":"new","person":"a b"}' '{"tenant":"new","groups":"../x"}' '{"tenant":"../a"}'; do
        json POST /v1/tokens "$admin" "$body" >/dev/null
        is "no token: $body" "$(answered)" 422
done
json PUT /v1/tenants/new/settings "$admin" '{"runs":1,"rate":1}' >/dev/null
is "settings" "$(answered)" 200
rejects() { http GET /v1/runs "$n" >/dev/null; http GET /v1/runs "$n" >/dev/null; [ "$(answered)" = 429 ]; }
ok "count at once" soon rejects
json PUT /v1/tenants/new/settings "$admin" '{"runs":-1}' >/dev/null
is "bad ones do not" "$(answered)" 422
json PUT /v1/tenants/none/settings "$admin" '{}' >/dev/null
is "of no tenant" "$(answered)" 404
json PUT /v1/tenants/new/settings "$admin" '{}' >/dev/null
http PUT /v1/tenants/new/ceiling "$admin" -d 'use base/system
read {work}' >"$T/body"
has "a ceiling is stored" "$(cat "$T/body")" bytes
is "a ceiling" "$(answered)" 200
http PUT /v1/tenants/new/ceiling "$admin" -d 'no such words' >/dev/null
is "that is none" "$(answered)" 422
soon sh -c "true"
is "lines within it" "$(run "$n" '{"argv":["echo","y"],"lines":"use base/system\n"}' | jq -r .stdout)" y
run "$n" '{"argv":["echo","y"],"lines":"use base/system\nnet example.com:443\n"}' >/dev/null
is "and no others" "$(answered)" 403

# usage
run "$a" '{"argv":["sh","-c","echo 12345; exit 1"]}' >/dev/null
run "$a" '{"argv":["echo","1"]}' >/dev/null
mine() { http GET /v1/usage "$1" | jq -c '([.hours[] | .tenant] | unique), ([.hours[].runs] | add), ([.hours[].failed] | add), ([.hours[].output_bytes] | add)' | xargs; }
is "a tenant sees what it used" "$(mine "$a")" "[a] 2 1 8"
is "and no other's" "$(http GET '/v1/usage?tenant=new' "$a" | jq -c .hours)" "[]"
is "admin sees all" "$(http GET /v1/usage "$admin" | jq -c '[.hours[].tenant] | unique')" '["a","new"]'
is "in whole hours" "$(http GET /v1/usage "$admin" | jq '[.hours[] | .hour % 3600] | add')" 0
is "since later: nothing" "$(http GET '/v1/usage?since=9999999999' "$admin" | jq -c .hours)" "[]"
kill -9 "$serve" && soon gone "$serve"
printf 'x y z\n3600 1 2\n' | $who sh -c 'cat >>"$1"' sh "$C/cordon/serve/tenants/a/usage"
serve
is "it lasts, and bad lines do not count" "$(mine "$a")" "[a] 2 1 8"
json DELETE "/v1/tokens/$id" "$admin" '' >/dev/null
http GET /v1/runs "$n" >/dev/null
is "a removed token is void at once" "$(answered)" 401
json DELETE "/v1/tokens/$id" "$admin" '' >/dev/null
is "and is not there" "$(answered)" 404
kill "$serve" && soon gone "$serve"
done_testing
