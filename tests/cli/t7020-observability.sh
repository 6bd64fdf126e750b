#!/bin/sh
# The ledger for other systems: spans, alerts and metrics, sent as they are written; alert rules.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
for tool in jq curl python3; do
        command -v $tool >/dev/null || { skip "exports" "$tool is not installed"; done_testing; }
done
mkdir -m 700 "$CORDON_STATE" && cd "$T" || exit 1
run() { "$CORDON" run -q "$@" >/dev/null 2>&1 </dev/null; }

# --- spans ---
trace=0af7651916cd43dd8448eb211c80319c
TRACEPARENT=00-$trace-b7ad6b7169203331-01 "$CORDON" run -q --name traced --env TRACEPARENT -- sh -c 'echo $TRACEPARENT; exit 3' >out 2>/dev/null
run --name other -- mount -t proc a /mnt
"$CORDON" ledger export --format otlp-traces >spans
is "a span for each run" "$(jq -r '[.resourceSpans[0].scopeSpans[0].spans[].name] | join(",")' spans)" "cordon run traced,cordon run other"
span() { jq -r ".resourceSpans[0].scopeSpans[0].spans[0] | $1" spans; }
is "it belongs to the caller's trace" "$(span '.traceId + " " + .parentSpanId')" "$trace b7ad6b7169203331"
is "and is what the box was given" "00-$trace-$(span .spanId)-01" "$(cat out)"
is "with its times, and that it failed" "$(span '(.endTimeUnixNano | tonumber) >= (.startTimeUnixNano | tonumber)') $(span .status.code)" "true 2"
is "effects are its events" "$(jq -r '[.resourceSpans[0].scopeSpans[0].spans[1].events[].name] | index("exec denied") != null' spans)" true

# --- alerts ---
run --name trap --trip calls -- mount -t proc a /mnt
printf 'use base/system\nrun sh ask within 1s\n' >asks
run --name asks -p asks -- sh -c true
mkdir -p "$CORDON_STATE/gate" && chmod 700 "$CORDON_STATE/gate" && (umask 077 && printf '{"at":%s000,"uid":%s,"read_ms":90000,"chars":90,"template":1,"yes":true,"id":"%064d","door":"net x","effect":"POST <b>x"}\n' "$(date +%s)" "$(id -u)" 7 >"$CORDON_STATE/gate/decisions")
"$CORDON" approve incident "$(printf %064d 7)" "it paid twice" >/dev/null 2>&1
is "a tripwire, a question and an incident are alerts, and nothing else" "$("$CORDON" ledger export --format alerts | jq -r '[.event, .box] | join(" ")' | xargs)" "tripwire trap pending asks incident"
has "their text can be shown" "$("$CORDON" ledger export --format alerts | jq -r 'select(.event == "incident") | .text')" "cordon: incident: POST <b>x"

# --- sent ---
mkdir got
python3 "$here/helpers/receiver.py" "$T/got" &
SERVER=$!
soon test -s got/port
url=http://127.0.0.1:$(cat got/port)
ok "spans are sent" "$CORDON" ledger export --format otlp-traces --to "$url"
is "to the path of the protocol, as JSON" "$(head -n 1 got/1.head) $(grep -ci 'content-type: application/json' got/1.head)" "/v1/traces 1"
is "and are whole" "$(jq '.resourceSpans[0].scopeSpans[0].spans | length' got/1)" 4
ok "so are logs" "$CORDON" ledger export --format otlp --to "$url"
is "to theirs" "$(head -n 1 got/2.head)" /v1/logs
printf '%s/hook?x=1\nAuthorization: Bearer not-for-ps "q"\n' "$url" >target
ok "a file names the URL and headers" "$CORDON" ledger export --format alerts --to target
is "each alert is a message of its own" "$(cat got/3 got/4 got/5 | jq -r .event | xargs)" "tripwire pending incident"
is "with the header" "$(head -n 1 got/3.head) $(grep -c 'Bearer not-for-ps "q"' got/3.head)" "/hook?x=1 1"
is "an address that does not answer fails" "$(status "$CORDON" ledger export --to http://127.0.0.1:1/)" 125
is "so does what is no URL" "$(status "$CORDON" ledger export --to asks)" 125

# --- as it is written; what is not taken is sent again ---
: >got/busy
"$CORDON" ledger export -f --format alerts --to "$url/live" 2>/dev/null &
FOLLOWS=$!
run --name late --trip calls -- mount -t proc a /mnt
# late: the file of the alert, once it came. The incident of the same second may come before it.
late() { for f in got/[6-9] got/[1-9][0-9]; do [ -e "$f" ] && [ "$(jq -r '.event + " " + .box' "$f")" = "tripwire late" ] && echo "$f" && return; done; false; }
again() { late >/dev/null || { run --name late --trip calls -- mount -t proc a /mnt; late >/dev/null; }; }
ok "an alert arrives by itself, also after a refusal" soon again
is "at the path that was named" "$(head -n 1 "$(late).head")" /live
kill $FOLLOWS 2>/dev/null
wait $FOLLOWS 2>/dev/null
kill $SERVER
wait $SERVER 2>/dev/null

# --- metrics ---
"$CORDON" ledger export --format prometheus >metrics
is "runs by what happened" "$(sed -n 's/^cordon_runs_flagged_total{flag="denied"} //p' metrics)" "$("$CORDON" ledger --kind denied --json | jq -r 'select(.kind != "gate" and .more.minor == null) | .run' | sort -u | wc -l)"
is "incidents are counted" "$(sed -n 's/^cordon_events_total{event="incidents"} //p' metrics)" 1
is "each metric has its type once" "$(sed -n 's/^# TYPE \([a-z0-9_]*\) .*/\1/p' metrics | sort | uniq -d)" ""
is "every line is one" "$(grep -vcE '^(# (HELP|TYPE) .*|cordon_[a-z0-9_]+(\{[a-z]+="[a-z0-9_-]*"(,[a-z]+="[a-z0-9_-]*")*\})? -?[0-9.]+)$' metrics)" 0
# The audit's own are there once an audit was recorded.
known=$(sed -n 's/^# TYPE \([a-z0-9_]*\) .*/\1/p' metrics; echo cordon_audit_debt cordon_audit_timestamp_seconds cordon_incident_budget)
used=$(cat "$CORDON_SOURCE/contrib/prometheus/cordon.rules.yml" "$CORDON_SOURCE/contrib/grafana/cordon.json" | grep -oE 'cordon_[a-z_]+' | sort -u)
unknown=$(for m in $used; do echo "$known" | tr " " "\n" | grep -qx "$m" || echo "$m"; done)
is "rules and dashboard use metrics that exist" "$unknown" ""
ok "the dashboard is JSON" jq -e '.panels | length > 5' "$CORDON_SOURCE/contrib/grafana/cordon.json"
if command -v promtool >/dev/null; then
        ok "promtool accepts the metrics" sh -c 'promtool check metrics <metrics'
        ok "and the rules" promtool check rules "$CORDON_SOURCE/contrib/prometheus/cordon.rules.yml"
        ok "they fire when they should" promtool test rules "$CORDON_SOURCE/contrib/prometheus/cordon.rules.test.yml" "$CORDON_SOURCE/contrib/prometheus/cordon.days.test.yml"
else
        skip "the alert rules" "promtool is not installed"
fi
is "metrics are not followed" "$(status "$CORDON" ledger export -f --format prometheus)" 125

# --- each box ---
is "the table of boxes: depth, cost and reach of each" "$("$CORDON" ledger tools --json | jq '[.[] | select(.box == "traced") | .depth > 0 and .start_us > 0 and .reach == "self"] | all')" true
has "as text" "$("$CORDON" ledger tools)" "RUNS LAYERS"
done_testing
