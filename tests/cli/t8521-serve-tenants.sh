#!/bin/sh
# Tenants of `cordon serve --http`: ids, keys of what is kept, and machines of their own.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=as_user
who=as_user
. "$here/helpers/serve.sh"

for who in $whos; do
        configure
        R=$C/run
        $who mkdir -m 700 "$R"
        tenant a b c
        base=$C/cordon/serve/tenants
        is "$who: each has an identity that only its operator reads" "$($who stat -c %a "$base/a/identity" "$base/b/identity" "$base/c/identity" | sort -u)" 600
        is "$who: no two have an id in common" "$($who sh -c 'cat "$1"/*/identity' sh "$base" | cut -d' ' -f2 | sort -un | awk 'NR > 1 && $1 - last < 65536 { print "overlap" } { last = $1 }')" ""
        is "$who: nor a secret" "$($who sh -c 'cat "$1"/*/identity' sh "$base" | cut -d' ' -f1 | sort -u | wc -l)" 3
        $who rm "$base/c/identity"
        for t in a b; do printf 'use base/system\nlimit time 2m\n' | $who sh -c 'cat >"$1"' sh "$base/$t/policies/plain.cordon"; done
        a=$(token a) b=$(token b) c=$(token c)
        serve --auto
        is "$who: an identity that is missing is made" "$(run "$c" '{"argv":["true"]}' | jq .status) $($who stat -c %a "$base/c/identity")" "0 600"

        # ids
        run "$a" '{"argv":["sleep","8563"],"wait":false}' >"$T/body"
        id=$(jq -r .id <"$T/body")
        sleeper() { pid=$(pgrep -xf 'sleep 8563'); [ -n "$pid" ]; }
        soon sleeper
        first=$($who cut -d' ' -f2 "$base/a/identity")
        if [ "$who" = root ] && awk '$3 != 4294967295 { exit 1 }' /proc/self/uid_map; then
                uid=$(stat -c %u "/proc/$pid")
                ok "$who: its boxes have ids of its range outside" test "$uid" -ge "$first" -a "$uid" -lt $((first + 65536))
        else
                skip "$who: ids of its range" "only root maps other ids"
        fi
        http DELETE "/v1/runs/$id" "$a" >/dev/null
        soon gone "$pid"

        # parked boxes: the same policy of two tenants is two plans
        plain() { run "$1" '{"argv":["true"],"policy":"plain"}' | jq -r .start; }
        parked() { [ "$(plain "$a")" = parked ]; }
        if soon parked; then
                is "$who: a box that is parked for one is not given to another" "$(plain "$b")" cold
                hasnt "$who: nor is it named to it" "$(run "$b" '{"argv":["true"],"policy":"plain"}' | jq -r .start_why)" "tenants/a"
        else
                skip "$who: parked boxes" "none was parked here"
        fi

        # a machine for one
        printf '{"runs": 8, "queue": 9, "rate": 1000, "share": false}' | $who sh -c 'cat >"$1"' sh "$base/c/tenant.json"
        later() { run "$1" '{"argv":["sleep","8564"],"wait":false}' | jq -r .id; }
        state() { http GET "/v1/runs/$2" "$1" | jq -r .state; }
        runs() { [ "$(state "$1" "$2")" = running ]; }
        one=$(later "$a")
        soon runs "$a" "$one"
        alone=$(later "$c")
        other=$(later "$b")
        is "$who: who shares with nobody waits for the others, and they for it" "$(state "$c" "$alone") $(state "$b" "$other")" "queued queued"
        http DELETE "/v1/runs/$one" "$a" >/dev/null
        ok "$who: then it runs" soon runs "$c" "$alone"
        is "$who: alone" "$(state "$b" "$other")" queued
        http POST /v1/sessions "$b" -D "$T/head" >/dev/null
        is "$who: no session starts beside it" "$(answered) $(grep -ci '^Retry-After' "$T/head")" "429 1"
        http DELETE "/v1/runs/$alone" "$c" >/dev/null
        ok "$who: and the others after it" soon runs "$b" "$other"
        kill "$serve"
        soon gone "$serve"
done
done_testing
