#!/bin/sh
# What a tenant or a model is told of its denials does not depend on what the host has: each face answers for what is there as for what
# is not. What a door of the run comes near is told, and the operator has the whole list.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "what tenants are told" "curl or jq is missing"; done_testing; }
[ "$(id -u)" -ne 0 ] || who=root
elsewhere told # a box has a /tmp of its own, where nothing is reported
. "$here/helpers/serve.sh"
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; for p in $pids; do soon gone "$p"; done; remove "$T" "$D"; exit $code' EXIT
configure
tenant a b
a=$(token a run,read)
P=$C/cordon/serve/tenants
H=$D/host
mkdir -p "$H/.ssh" "$H/dir" "$D/near" && echo near >"$D/near/file" && chmod -R a+rwX "$D/near"
echo x >"$H/file0" && echo x >"$H/.ssh/id_ed0" && cp /bin/true "$H/prog0" && chmod -R a+rX "$H"
printf 'use base/system\nread %s\n' "$D/near" | $who sh -c 'cat >"$1"' sh "$P/a/policies/near.cordon"
serve

# Of each pair the first is there, and the second, as long, is not.
pairs="cat:$H/file0:$H/file1
cat:$H/.ssh/id_ed0:$H/.ssh/id_ed1
cat:/etc/shadow:/etc/shadox
ls:$H/dir:$H/dix
sh -c '>\$0':$H/dir/new:$H/dix/new
sh -c '\$0':$H/prog0:$H/prog1"
alike() { sed "s|$1|WHAT|g; s/r-[0-9a-z-]*/ID/g; s/[0-9a-f-]*\.[0-9]*\"/ID\"/g"; }
told() { # PATH COMMAND: what each face says, without what differs from run to run
        run "$a" "$(jq -nc --arg c "$2 $1 2>/dev/null; exit 1" '{argv: ["sh", "-c", $c], policy: "near"}')" >"$T/body"
        id=$(jq -r .id "$T/body") box=$(jq -r .run "$T/body")
        jq -c '[.blocked, .minor, .denials, .status]' "$T/body" | alike "$1"
        http GET "/v1/runs/$id" "$a" | jq -c '[.blocked, .minor, .denials]' | alike "$1"
        http GET "/v1/ledger?run=$id&kind=denied" "$a" | jq -c '[.records[] | [.target, .more]]' | alike "$1"
        first=$(http GET "/v1/ledger?run=$id" "$a" | jq -r '.records[0].id')
        http GET "/v1/ledger/$first/trace" "$a" | grep -c "$1"
        http GET /v1/ledger "$a" | grep -c "$1 "
}
printf '%s\n' "$pairs" >"$T/pairs"
# mcp TOOL NAME: one session, in which each line of arguments is a call; what it answers, in order
mcp() {
        n=$(wc -l <"$T/calls")
        : >"$T/answers"
        {
                echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
                echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
                jq -c --arg n "$1" '{jsonrpc: "2.0", id: input_line_number, method: "tools/call", params: {name: $n, arguments: .}}' <"$T/calls"
                soon answered_all
        } | PATH=$H/bin:$PATH "$CORDON" mcp --use base/system --read "$D/near" 2>/dev/null >"$T/answers"
        jq -sc '[.[] | select(.id > 0)] | sort_by(.id)[].result.structuredContent' "$T/answers"
}
answered_all() { [ "$(grep -c '"result"' "$T/answers")" -gt "$n" ]; }
# What a model is told by `cordon mcp`.
model() { # PATH COMMAND
        jq -nc --arg c "$2 $1 2>/dev/null; exit 1" '{command: $c}' >"$T/calls"
        mcp run_command | jq -c '[.status, .blocked, .next_steps]' | alike "$1"
}
explain() { jq -Rc '{effect: .}' >"$T/calls" && mcp why; } # of each line
while IFS=: read -r command there gone; do
        is "$command: $there is that for a model" "$(model "$there" "$command")" "$(model "$gone" "$command")"
        is "$command: $there is answered as what is not there" "$(told "$there" "$command")" "$(told "$gone" "$command")"
done <"$T/pairs"

# ---- `why` of a model: the same; and the truth about what a door shows ----
mkdir "$H/bin" && cp /bin/true "$H/bin/tool0" && ln -s "$D/near/file" "$H/link0" && ln -s "$H/file0" "$D/near/link" && chmod -R a+rX "$H"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$H/sock0"
printf '#!%s\n' "$H/prog0" >"/tmp/${T##*/}0" && chmod 755 "/tmp/${T##*/}0"
cat >"$T/whys" <<W
read $H/file0 $H/file1
read $H/dir $H/dix
read $H/.ssh/id_ed0 $H/.ssh/id_ed1
read $H/link0 $H/link1
write $H/file0 $H/file1
write $H/dir/new $H/dix/new
run $H/prog0 $H/prog1
run tool0 tool1
run /tmp/${T##*/}0 /tmp/${T##*/}1
sock $H/sock0 $H/sock1
dev /dev/null0 /dev/null1
W
awk '{print $1, $2; print $1, $3}' "$T/whys" | explain >"$T/answered"
line=0
while read -r word there gone; do
        line=$((line + 2))
        is "why $word $there is answered as what is not there" "$(sed -n "$((line - 1))p" "$T/answered" | alike "$there")" "$(sed -n "${line}p" "$T/answered" | alike "$gone")"
        has "why $word $gone: it is answered" "$(sed -n "${line}p" "$T/answered")" '"decision":'
done <"$T/whys"
rm "/tmp/${T##*/}0"
cat >"$T/whys" <<W
read $D/near/file|["allow",true]
read $D/near/none|["allow",false]
write $D/near/file|["deny",true]
write $D/near/none|["deny",null]
write $D/near/none/none|["deny",false]
read $D/near/link|["deny",null]
run sh|["allow",true]
run /usr/bin/none|["allow",false]
read $H/file0|["deny",null]
W
is "what a door shows is told, and nothing else" "$(sed 's/|.*//' "$T/whys" | explain | jq -rc '.decision | .effect + "|" + ([.answer, .on_host] | tojson)')" "$(cat "$T/whys")"
is "the person at the terminal is told of all" "$("$CORDON" why --json read "$H/file0" | jq .on_host) $("$CORDON" why --json read "$H/file1" | jq .on_host)" "true false"

run "$a" "{\"argv\":[\"sh\",\"-c\",\"echo x >$D/near/file\"],\"policy\":\"near\"}" >"$T/body"
is "what a door comes near is told" "$(jq -c '[.blocked[].reason]' "$T/body")" '["read-only"]'
before=$(http GET /v1/tenant "$a" | jq .denials)
run "$a" "{\"argv\":[\"cat\",\"$H/file0\"],\"policy\":\"near\"}" >/dev/null
is "and what it does not is not counted" "$(http GET /v1/tenant "$a" | jq .denials)" "$before"
$who env CORDON_STATE="$P/a/state" "$CORDON" ledger --kind denied --json >"$T/all"
is "the operator has the whole list" "$(jq -r .more.to "$T/all" | grep -c "^$H/" | sed 's/^[1-9]$/all/')" all # how many is seen depends on the host's /dev/fuse

done_testing
