#!/bin/sh
# The log and the metrics of `cordon serve --http`: lines that are JSON and have no secret; each name in contrib/grafana and contrib/prometheus is one that the server has.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
for p in curl jq python3; do command -v $p >/dev/null || { skip "log and metrics" "$p is missing"; done_testing; }; done
. "$here/helpers/serve.sh"
configure
tenant a b
a=$(token a) b=$(token b run,read) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --log json
run "$a" '{"argv":["echo","hush-hush"],"stdin":"hush-hush","env":{"S":"hush-hush"}}' >/dev/null
run "$b" '{"argv":["sh","-c","cat /etc/shadow; exit 3"]}' >/dev/null
run "$a" '{"argv":["sleep","9"],"timeout":1}' >/dev/null
http GET '/v1/runs?label=hush-hush' "$a" >/dev/null
http GET '/v1/%22%7D%5C' wrong >/dev/null
http GET /v1/metrics "$admin" >"$T/all"
http GET /v1/metrics "$a" >"$T/mine"

# the log
grep -c '^{' "$T/said" >"$T/n"
is "each line of the server is JSON" "$(grep '^{' "$T/said" | jq -c 'has("time") and has("level") and has("kind")' | sort -u)" true
is "runs are in it" "$(grep '^{' "$T/said" | jq -r 'select(.kind == "run") | .tenant + " " + .end' | sort | xargs)" "a exited a limit b exited"
is "requests too" "$(grep '^{' "$T/said" | jq -r 'select(.kind == "request" and .path == "/v1/runs") | .tenant + .method + (.status | tostring)' | sort -u | xargs)" "aGET200 aPOST200 bPOST200"
is "no body, query, output, variable or token" "$(grep -c -e hush-hush -e "$a" -e "$b" "$T/said")" 0
is "a path is one member of its line" "$(grep '^{' "$T/said" | jq -r 'select(.status == 404) | .path')" '/v1/"}\'

# the metrics
is "one tenant sees its own" "$(grep -c 'tenant="b"' "$T/mine") $(grep -c cordon_requests_total "$T/mine")" "0 0"
has "histograms" "$(cat "$T/all")" 'cordon_run_seconds_count{tenant="a"} 2'
has "ends" "$(cat "$T/all")" 'cordon_ends_total{tenant="a",end="limit"} 1'
has "starts" "$(cat "$T/all")" 'cordon_starts_total{tenant="b",start='
has "build" "$(cat "$T/all")" 'cordon_build_info{version="'
python3 - "$T/all" >"$T/forms" <<'PY'
import re, sys
seen, kinds = {}, {}
for line in open(sys.argv[1]):
    m = re.fullmatch(r"# (HELP|TYPE) (\S+) (.*)\n", line)
    if m:
        if m[1] == "TYPE":
            kinds[m[2]] = m[3]
        continue
    m = re.fullmatch(r'([a-z_]+)(\{([a-z]+="[^"\\]*",?)*\})? [0-9.]+\n', line)
    if not m:
        print("bad", line, end="")
        continue
    base = re.sub(r"_(bucket|sum|count)$", "", m[1])
    kind = kinds.get(m[1]) or kinds.get(base)
    if not kind or (kind == "counter") != m[1].endswith("_total"):
        print("kind", m[1])
    if line.split(" ")[0] in seen:
        print("twice", line, end="")
    seen[line.split(" ")[0]] = 1
PY
is "the text is what Prometheus reads" "$(cat "$T/forms")" ""

# what watches them
python3 - "$T/all" "$here/../../contrib" >"$T/names" <<'PY'
import json, re, sys
have = set(re.findall(r"^(cordon_[a-z_]+)", open(sys.argv[1]).read(), re.M))
texts = {f: open(sys.argv[2] + f).read() for f in ("/grafana/cordon-serve.json", "/prometheus/cordon-serve.rules.yml")}
used = set()
for panel in json.loads(texts["/grafana/cordon-serve.json"])["panels"]:
    for t in panel["targets"]:
        used |= set(re.findall(r"cordon_[a-z_]+", t["expr"]))
rules = re.findall(r"^ +expr: (.*)$", texts["/prometheus/cordon-serve.rules.yml"], re.M)
for r in rules:
    used |= set(re.findall(r"cordon_[a-z_]+", r))
for name in sorted(used - have):
    print("unknown", name)
for base in sorted({re.sub(r"_(bucket|sum|count)$", "", n) for n in have if n.startswith("cordon_")}):
    if re.search(r"_seconds$", base) and base + "_bucket" not in used:
        print("unused", base)
print(len(rules), "rules")
PY
is "the dashboard and the rules use names that exist, and each histogram" "$(cat "$T/names")" "7 rules"
if command -v promtool >/dev/null; then ok "promtool reads the rules" promtool check rules "$here/../../contrib/prometheus/cordon-serve.rules.yml"; fi

# the same denial has the same words on each face, and counts once
words='[.denials[] | select(.minor | not) | {what, code, reason, why, permit}] | sort_by(.what)'
printf 'use base/system\nlimit time 1m\n' | $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/b/policies/plain.cordon"
run "$b" '{"argv":["sh","-c","curl -s -m 3 http://example.com; curl -s -m 3 http://example.org"],"policy":"plain"}' >"$T/body"
$who "$CORDON" run -p "$C/cordon/serve/tenants/b/policies/plain.cordon" --json -- sh -c 'curl -s -m 3 http://example.com; curl -s -m 3 http://example.org' 2>&1 </dev/null | sed -n '/^{/p' >"$T/cli"
is "HTTP and the command line say the same" "$(jq -c '[.blocked[] | {what: .effect, code, reason, why, permit}] | sort_by(.what)' "$T/body")" "$(jq -c "$words" "$T/cli")"
ok "which is something" test "$(jq '.blocked | length' "$T/body")" -ge 1
n=$(http GET '/v1/runs?limit=1000' "$b" | jq '[.runs[].denials] | add')
has "and metrics count that" "$(http GET /v1/metrics "$b")" "cordon_denials_total{tenant=\"b\"} $n"
kill "$serve" && soon gone "$serve"
done_testing
