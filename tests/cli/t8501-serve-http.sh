#!/bin/sh
# `cordon serve --http`: runs over HTTP, with tokens, scopes, idempotency keys, events and errors that say what to do.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"

for who in root as_user; do
        configure
        has "$who: without a directory it says what to do" "$(cordon serve --http "unix:$S" 2>&1)" "cordon serve tenant new NAME"
        tenant a b
        is "$who: tenants are listed" "$(cordon serve tenant ls | sort | xargs)" "a b"
        has "$who: one of that name exists" "$(cordon serve tenant new a 2>&1)" "the tenant exists"
        has "$who: a name is no path" "$(cordon serve tenant new ../x 2>&1)" "letters, digits"
        has "$who: a token needs a tenant" "$(cordon serve token new --tenant nobody 2>&1)" "there is no tenant"
        has "$who: the hint is for the directory that was given" "$(cordon serve token new --tenant nobody --config "$C/cordon/serve" 2>&1)" "tenant new nobody --config $C/cordon/serve"
        a=$(token a) b=$(token b) reader=$(token a read)
        hasnt "$who: tokens are stored as digests" "$(cat "$C/cordon/serve/tokens")" "$a"
        has "$who: only loopback addresses are served" "$(cordon serve --http 0.0.0.0:80 2>&1)" "not a loopback address"
        serve

        is "$who: it is well" "$(up | jq -r .status)" ok
        is "$who: a run" "$(run "$a" '{"argv":["sh","-c","cat; echo oops >&2; exit 3"],"stdin":"in"}' | jq -c '[.status,.end,.stdout,.stderr]')" '[3,"exited","in","oops\n"]'
        is "$who: its status" "$(answered)" 200
        is "$who: what is blocked is reported with the line that allows it" \
                "$(run "$a" '{"argv":["curl","-s","http://example.com"],"policy":"default"}' | jq -r '.blocked[] | select(.effect | test("example")) | .permit')" "net example.com:80"
        is "$who: output as bytes" "$(run "$a" '{"argv":["printf","\\377\\001"],"output":"base64"}' | jq -r .stdout)" "/wE="
        is "$who: denials are counted as they are listed" "$(run "$a" '{"argv":["sh","-c","cat /root/x /etc/shadow"]}' | jq -c '[.denials == (.blocked | length), (.minor >= 0)]')" "[true,true]"
        has "$who: and inert as text" "$(run "$a" '{"argv":["printf","a\\033[31mb"]}' | jq -r '.cut')" 1
        is "$who: a time limit" "$(run "$a" '{"argv":["sleep","100"],"timeout":1}' | jq -c '[.status,.limit]')" '[124,"timeout"]'

        # errors
        for row in '{"argv":[]}|422' '{"argv":"x"}|422' '{"argv":["a"],"polcy":"x"}|422' 'no|400' '{"argv":["true"],"policy":"../x"}|422' \
                '{"argv":["true"],"policy":"none-such"}|422' '{"argv":["true"],"session":"s-1"}|404' '{"argv":["true"],"lines":"read /"}|403' '{"argv":["true"],"timeout":0}|422'; do
                run "$a" "${row%|*}" >"$T/body"
                is "$who: ${row%|*}" "$(answered) $(jq -r '.status' <"$T/body")" "${row##*|} ${row##*|}"
        done
        has "$who: lines are one string" "$(run "$a" '{"argv":["a"],"lines":["read {work}"]}' | jq -r .detail)" '`lines` is one string'
        is "$who: a misspelled member has a hint" "$(run "$a" '{"argv":["a"],"polcy":"x"}' | jq -r .hint)" 'did you mean `policy`?'
        has "$who: an unknown member has a hint" "$(run "$a" '{"command":["a"]}' | jq -r .hint)" "it has: argv, policy"
        has "$who: and where to read on" "$(run "$a" '{"command":["a"]}' | jq -r .hint)" "/v1/openapi.json"
        http POST /v1/runs "$a" -d '{}' >/dev/null
        is "$who: a body of another type" "$(answered)" 415
        http GET /v1/runs wrong >"$T/body"
        is "$who: without a valid token" "$(answered)" 401
        has "$who: the error says how to get one" "$(jq -r .hint <"$T/body")" "cordon serve token new --tenant NAME"
        run "$reader" '{"argv":["true"]}' >/dev/null
        is "$who: a token without the scope" "$(answered)" 403
        http GET /v1/nothing "$a" >/dev/null
        is "$who: no such path" "$(answered)" 404
        http PUT /v1/runs "$a" >/dev/null
        is "$who: no such method" "$(answered)" 405
        http GET /v1/health "$a" -H 'Host: evil.example' >/dev/null
        is "$who: another Host is refused (DNS rebinding)" "$(answered)" 421
        http GET /v1/runs "$a" -H 'Origin: https://evil.example' >/dev/null
        is "$who: a page of another site is refused" "$(answered)" 403
        has "$who: request ids come back" "$(http GET /v1/runs "$a" -i -H 'X-Request-Id: my-1')" "X-Request-Id: my-1"

        # later, again, events, end
        first=$(run "$a" '{"argv":["sh","-c","echo x; sleep 100"]}' -H 'Prefer: respond-async' -H 'Idempotency-Key: k')
        is "$who: a run that goes on" "$(answered)" 202
        id=$(echo "$first" | jq -r .id)
        is "$who: the same key is the same run" "$(run "$a" '{"argv":["sh","-c","echo x; sleep 100"]}' -H 'Prefer: respond-async' -H 'Idempotency-Key: k' | jq -r .id)" "$id"
        run "$a" '{"argv":["true"]}' -H 'Idempotency-Key: k' >/dev/null
        is "$who: with another request it is refused" "$(answered)" 422
        http GET "/v1/runs/$id" "$b" >/dev/null
        is "$who: another tenant does not see it" "$(answered)" 404
        http DELETE "/v1/runs/$id" "$b" >/dev/null
        is "$who: and does not end it" "$(answered) $(http GET "/v1/runs/$id" "$a" | jq -r '.state != "ended"')" "404 true"
        began() { [ "$(http GET "/v1/runs/$id" "$a" | jq -r .state)" = running ]; }
        soon began
        http DELETE "/v1/runs/$id" "$a" >/dev/null
        ended() { [ "$(http GET "/v1/runs/$id" "$a" | jq -r .end)" = cancelled ]; }
        ok "$who: its own does" soon ended
        has "$who: the list has it" "$(http GET /v1/runs "$reader" | jq -r '.runs[].id')" "$id"
        has "$who: events of a run that has ended" "$(http GET "/v1/runs/$id/events" "$a" | grep -c '^event: ')" 3
        run "$a" '{"argv":["sh","-c","echo one; echo two >&2"]}' -H 'Accept: text/event-stream' >"$T/events"
        is "$who: a run as events" "$(sed -n 's/^event: //p' "$T/events" | sort -u | xargs) $(sed -n 's/^data: //p' "$T/events" | jq -r 'select(.base64).base64' | base64 -d | sort | xargs)" "end output start one two"

        # policies
        printf 'use base/system\nread {work}\nnet example.org:443\nlimit time 1m\n' >"$T/ceiling"
        $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/a/ceiling.cordon" <"$T/ceiling"
        is "$who: door lines below the ceiling" "$(run "$a" '{"argv":["echo","ok"],"lines":"use base/system\nread {work}\nlimit time 5s\n"}' | jq -r .stdout)" ok
        run "$a" '{"argv":["true"],"lines":"use base/system\nnet example.com:443\n"}' >"$T/body"
        is "$who: wider ones are refused" "$(answered)" 403
        has "$who: with the difference" "$(jq -r .detail <"$T/body")" "example.com"
        run "$a" '{"argv":["true"],"lines":"use base/system\nwrite {work}\n"}' >/dev/null
        is "$who: so is a door to write" "$(answered)" 403
        is "$who: the registered ones are listed" "$(http GET /v1/policies "$a" | jq -c .policies)" '["default"]'
        has "$who: and shown" "$(http GET /v1/policies/default "$a" | jq -r .doors)" "read"

        # sessions
        s=$(http POST /v1/sessions "$a" | jq -r .id)
        is "$who: a session" "$(answered)" 201
        is_up() { [ "$(http GET "/v1/sessions/$s" "$a" | jq -r .state)" = up ]; }
        soon is_up
        run "$a" "{\"argv\":[\"sh\",\"-c\",\"echo kept >/tmp/x\"],\"session\":\"$s\"}" >/dev/null
        is "$who: keeps its files" "$(run "$a" "{\"argv\":[\"cat\",\"/tmp/x\"],\"session\":\"$s\"}" | jq -r .stdout)" kept
        run "$b" "{\"argv\":[\"cat\",\"/tmp/x\"],\"session\":\"$s\"}" >/dev/null
        is "$who: for its tenant only" "$(answered)" 404
        http DELETE "/v1/sessions/$s" "$a" >/dev/null
        is_over() { [ "$(http GET "/v1/sessions/$s" "$a" | jq -r .state)" = ended ]; }
        ok "$who: and ends" soon is_over

        # tokens end at once
        cordon serve token rm "$(cordon serve token ls --json | jq -r '.[] | select(.scopes == ["read"]).id')"
        http GET /v1/runs "$reader" >/dev/null
        is "$who: a removed token is void" "$(answered)" 401
        kill "$serve"
        ok "$who: it ends by a signal" soon gone "$serve"
        ok "$who: and removes its socket" test ! -e "$S"
        has "$who: each tenant has a ledger of its own" "$($who env CORDON_STATE="$C/cordon/serve/tenants/a/state" "$CORDON" ledger verify 2>&1)" "nothing that is sealed was changed"
        ok "$who: b, which ran nothing, has none" test ! -e "$C/cordon/serve/tenants/b/state/ledger"
done
done_testing
