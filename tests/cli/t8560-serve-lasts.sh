#!/bin/sh
# What `cordon serve --http` was given lasts: a restart and kill -9 lose no result, key, waiting run or session; SIGTERM drains; a run for a
# session that still starts waits; lists are paged and filtered; the whole output can be fetched; a full disk is 507, not silence.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve that lasts" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
a=$(token a) b=$(token b)
base=$C/cordon/serve/tenants
settings() { $who sh -c 'cat >"$1"' sh "$base/$1/tenant.json"; }
echo '{"runs": 4, "queue": 400, "rate": 10000}' | settings a
later() { run "$a" "$1" -H 'Prefer: respond-async' "${2:--sS}" "${3:--sS}" | jq -r .id; }
get() { http GET "/v1/runs/$1" "$a"; }
state() { get "$1" | jq -r .state; }
is_ended() { [ "$(state "$1")" = ended ]; }
all_ended() { [ "$(http GET '/v1/runs?state=ended&limit=1000' "$a" | jq '.runs | length')" -ge "$1" ]; }
serve

# 1: a session that still starts
bad=
for i in 1 2 3 4 5 6; do
        s=$(http POST /v1/sessions "$a" | jq -r .id)
        out=$(run "$a" "{\"argv\":[\"echo\",\"$i\"],\"session\":\"$s\"}" | jq -r .stdout)
        [ "$out" = "$i" ] || bad="$bad $i"
        http DELETE "/v1/sessions/$s" "$a" >/dev/null
done
is "a run sent right after its session waits for it" "$bad" ""

# 2: results last
for i in $(seq 150); do later "{\"argv\":[\"sh\",\"-c\",\"echo $i; exit $((i % 7))\"],\"labels\":{\"n\":\"$i\",\"odd\":\"$((i % 2))\"}}"; done >"$T/ids"
ok "150 runs end" soon all_ended 150
all_whole() { # every one of $T/ids has its own result
        n=0
        while read -r id; do
                n=$((n + 1))
                [ "$(get "$id" | jq -r '"\(.stdout)\(.status)"' | xargs)" = "$n $((n % 7))" ] || echo "$n"
        done <"$T/ids"
}
is "all have their results" "$(all_whole)" ""
keyed=$(run "$a" '{"argv":["sh","-c","echo once"]}' -H 'Idempotency-Key: last-1' | jq -r .id)
session=$(http POST /v1/sessions "$a" | jq -r .id)
events=$(http GET "/v1/runs/$keyed/events" "$a" | sha256sum)
echo '{"runs": 1, "queue": 400, "rate": 10000}' | settings a
holds=$(later '{"argv":["sleep","8560"]}')
runs() { [ "$(state "$1")" = running ]; }
ok "one runs" soon runs "$holds"
waits=$(later '{"argv":["sh","-c","cat; echo $E; pwd"],"stdin":"in ","env":{"E":"a b"},"labels":{"k":"waits"}}')
is "one waits" "$(state "$waits")" queued
kill -9 "$serve"
soon gone "$serve"
serve
is "after kill -9 all have their results" "$(all_whole)" ""
is "the same key is the same run" "$(run "$a" '{"argv":["sh","-c","echo once"]}' -H 'Idempotency-Key: last-1' | jq -r '.id + " " + .stdout')" "$keyed once"
run "$a" '{"argv":["true"]}' -H 'Idempotency-Key: last-1' >/dev/null
is "with another request it is refused" "$(answered)" 422
is "its events are the same" "$(http GET "/v1/runs/$keyed/events" "$a" | sha256sum)" "$events"
is "the one that ran was interrupted, and is not run again" "$(get "$holds" | jq -c '[.state,.end,.error.code]')" '["ended","interrupted","gone"]'
ok "the one that waited runs" soon is_ended "$waits"
is "with all that it was sent with" "$(get "$waits" | jq -r '.stdout' | head -1)" "in a b"
is "the session is listed as ended" "$(http GET "/v1/sessions/$session" "$a" | jq -r .state)" ended
http GET "/v1/runs/$keyed" "$b" >/dev/null
is "another tenant sees none" "$(answered) $(http GET /v1/runs "$b" | jq '.runs | length')" "404 0"

# lists
is "pages" "$(http GET '/v1/runs?limit=2' "$a" | jq '(.runs | length), (.next | type)' | xargs)" "2 string"
next='/v1/runs?limit=50' seen=0
while [ -n "$next" ]; do
        http GET "$next" "$a" >"$T/page"
        seen=$((seen + $(jq '.runs | length' "$T/page")))
        next=$(jq -r 'if .next then "/v1/runs?limit=50&before=" + .next else "" end' "$T/page")
done
is "together they are all" "$seen" "$(http GET '/v1/runs?limit=1000' "$a" | jq '.runs | length')"
is "by label" "$(http GET '/v1/runs?label=n%3D7' "$a" | jq -r '.runs[].labels.odd')" 1
is "by part of a label: none" "$(http GET '/v1/runs?label=n%3D1' "$a" | jq -r '[.runs[].labels.n] | join(",")')" 1
is "by how they ended" "$(http GET '/v1/runs?state=interrupted' "$a" | jq -r '.runs[].id')" "$holds"
is "by policy" "$(http GET '/v1/runs?policy=none-such' "$a" | jq '.runs | length')" 0
for q in limit=0 limit=10001 limit=x since=-1 state=%00; do
        http GET "/v1/runs?$q" "$a" >/dev/null
        is "bad: $q" "$(answered)" 400
done

# a long command is not kept in memory, and is there when it is asked for
words=$(seq 3000 | xargs)
id=$(later "{\"argv\":[\"true\",\"$words\"]}")
soon is_ended "$id"
for _ in $(seq 40); do run "$a" '{"argv":["true"]}' >/dev/null; done
is "lists leave a long command out" "$(http GET '/v1/runs?limit=100' "$a" | jq -c --arg i "$id" '.runs[] | select(.id == $i) | .argv')" "[]"
is "the run has it" "$(get "$id" | jq -r '.argv[1]' | sha256sum)" "$(echo "$words" | sha256sum)"
is "twice" "$(get "$id" | jq -r '.argv[1]' | sha256sum)" "$(echo "$words" | sha256sum)"

# retention
echo '{"runs": 4, "queue": 400, "rate": 10000, "keep_bytes": 30000}' | settings a
few() { run "$a" '{"argv":["true"]}' >/dev/null; [ "$($who sh -c 'cat "$1"/runs/* | wc -c' sh "$base/a")" -le 34000 ]; }
ok "what is kept has a limit of bytes" soon few
id=$(sed -n 1p "$T/ids")
get "$id" >/dev/null
is "the oldest went first" "$(answered) $($who ls "$base/a/runs" | grep -c "^$id")" "404 0"
echo '{"runs": 4, "queue": 400, "rate": 10000}' | settings a

# 7: output
long=$(later '{"argv":["sh","-c","seq 200000; echo tail >&2"]}')
soon is_ended "$long"
size=$(seq 200000 | wc -c)
is "long output is cut in the answer" "$(get "$long" | jq -c '[.truncated, (.stdout | length), .stdout_bytes, .stderr_bytes]')" "[true,262144,$size,5]"
is "the whole can be fetched" "$(http GET "/v1/runs/$long/stdout" "$a" | sha256sum)" "$(seq 200000 | sha256sum)"
is "and a part" "$(http GET "/v1/runs/$long/stdout" "$a" -H 'Range: bytes=300000-300009' | od -An -c | xargs)$(answered)" "$(seq 200000 | tail -c +300001 | head -c 10 | od -An -c | xargs)206"
has "which says where it is" "$(http GET "/v1/runs/$long/stdout" "$a" -i -H 'Range: bytes=-5')" "Content-Range: bytes $((size - 5))-$((size - 1))/$size"
is "standard error" "$(http GET "/v1/runs/$long/stderr" "$a")" tail
http GET "/v1/runs/$long/stdout" "$a" -H "Range: bytes=$size-" >/dev/null
is "behind its end" "$(answered)" 416
for range in 'bytes=5-1' 'bytes=0-1,3-4' 'lines=1-2' 'bytes=--1' 'bytes=-'; do
        http GET "/v1/runs/$long/stderr" "$a" -H "Range: $range" >"$T/body"
        is "a range that is none is ignored: $range" "$(answered) $(cat "$T/body")" "200 tail"
done
http GET "/v1/runs/$long/stdout" "$b" >/dev/null
is "another tenant's is not there" "$(answered)" 404

# 8: of one run
is "variables, directory and labels" "$(http PUT /v1/files/d/e/x "$a" -d 1 >/dev/null; run "$a" '{"argv":["sh","-c","pwd; echo $A-$B"],"cwd":"d/e","env":{"A":"1 2","B":"\"q\\\\"},"labels":{"team":"x"}}' | jq -r '(.stdout | gsub(".*/files/"; "") | gsub("\n"; " ")) + .labels.team')" 'd/e 1 2-"q\ x'
for row in '"cwd":"/etc"' '"cwd":"../x"' '"cwd":"d/../../x"' '"cwd":"d/.."' '"env":{"1A":"x"}' '"env":{"A=B":"x"}' '"env":{"A":"x\ny"}' '"env":{"A":1}' '"env":["A"]' '"labels":{"a b":"x"}' '"labels":{"a":"x\ny"}' '"labels":{"a":{}}'; do
        run "$a" "{\"argv\":[\"true\"],$row}" >/dev/null
        is "bad: $row" "$(answered)" 422
done
printf 'use base/system\nread {work}\nrun /bin/true\n' | $who sh -c 'cat >"$1"' sh "$base/a/policies/few.cordon"
run "$a" '{"argv":["true"],"policy":"few","env":{"LD_PRELOAD":"/x"}}' >/dev/null
is "no variable for a policy that permits some programs only" "$(answered)" 403

# 3: drain
holds=$(later '{"argv":["sh","-c","sleep 2; echo whole"]}')
soon runs "$holds"
kill "$serve"
run "$a" '{"argv":["true"]}' -i >"$T/body"
is "while it drains, no new runs" "$(answered)" 503
has "with a time to come back" "$(cat "$T/body")" "Retry-After:"
is "and health says so" "$(up | jq -r .status)" draining
ok "it ends with the last run" soon gone "$serve"
serve --drain 1s
is "which was whole" "$(get "$holds" | jq -r .stdout)" whole
holds=$(later '{"argv":["sleep","8560"]}')
soon runs "$holds"
run "$a" '{"argv":["sleep","8561"]}' >"$T/waits" 2>/dev/null &
waiting=$!
both() { [ "$(http GET '/v1/runs?state=running' "$a" | jq '.runs | length')" = 2 ]; }
soon both
kill "$serve"
wait "$waiting"
ok "after that time the rest is ended" soon gone "$serve"
is "who waited is told: 503" "$(jq -r .status "$T/waits")" 503
has "and the operator" "$(cat "$T/said")" "ended 2 runs"
serve
is "and later asked" "$(get "$holds" | jq -r .end)" interrupted
kill "$serve" && soon gone "$serve"
done_testing
