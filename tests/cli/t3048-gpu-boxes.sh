#!/bin/sh
# Boxes with a GPU in each way that boxes are started: records, sessions, the pool, `cordon mcp` and `cordon serve`, on a host with a
# /dev of its own (helpers/gpu_host.sh). As root; its boxes also as an ordinary user.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
given=${CORDON:-}
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${GPU_HOST:-}" ]; then
        mkdir "$T/dev"
        if [ "$(unshare -m sh "$here/helpers/gpu_host.sh" "$T/dev" nvidia stat -c %t:%T /dev/nvidiactl 2>&1)" != c3:ff ]; then
                skip "a host with GPUs" "no nodes can be made here: that is root's"
                done_testing
        fi
        CORDON=$given GPU_HOST=1 unshare -m sh "$here/helpers/gpu_host.sh" "$T/dev" nvidia sh "$here/$(basename "$0")"
        exit $?
fi
root() { "$@"; }
. "$here/lib-serve.sh"
list='ls /dev | grep -e nvidia | tr "\n" " "'
both="nvidia-uvm nvidia0 nvidia1 nvidiactl "
one="nvidia-uvm nvidia1 nvidiactl "

for who in root as_user; do
        rt=$T/rt.$who
        mkdir -m 700 "$rt" && { [ "$who" = root ] || chown 65533:65533 "$rt"; }

        # ---- the record ----
        is "$who: the result has the GPUs" "$(run run --json --gpu -- true 2>&1 >/dev/null | tail -n 1 | jq -r .gpu)" "nvidia0 nvidia1"
        is "$who: that of a box without one has none" "$(run run --json -- true 2>&1 >/dev/null | tail -n 1 | jq -r 'has("gpu")')" false
        id=$(run run --json --gpu=1 -- true 2>&1 >/dev/null | tail -n 1 | jq -r .run)
        has "$who: so has the ledger" "$(run log show "$id")" "  gpu      nvidia1"
        is "$who: for programs, too" "$(run log --json --run "$id" | jq -r 'select(.kind == "start").more.gpu')" nvidia1

        # ---- a box that stays ----
        run session new --name g --gpu=1 >/dev/null 2>&1
        is "$who: a session has its GPU in each run" "$(run session run g -- sh -c "$list")$(run session run g -- sh -c "$list")" "$one$one"
        id=$(run session run --json g -- true 2>&1 >/dev/null | tail -n 1 | jq -r '.gpu')
        is "$who: as its result says" "$id" nvidia1
        run session end g >/dev/null 2>&1

        # ---- parked boxes ----
        printf 'use base/system\ngpu\nwarm python3 import json\n' >"$T/d/warm"
        serve
        ok "$who: boxes with GPUs are parked" run serve pool add --size 2 --gpu
        ready() { [ "$(run serve pool stats --json | jq .parked)" -ge "$1" ]; }
        soon ready 2
        is "$who: a run gets one" "$(how --pool require --gpu -- true)" "parked "
        soon ready 2
        is "$who: with the nodes in it" "$(run run --pool require --gpu -- sh -c "$list")" "$both"
        has "$who: a run without the door gets none of them" "$(how -- true)" "cold no box is parked for this plan"
        has "$who: nor one with another GPU" "$(how --gpu=1 -- true)" "this run does not show /dev/nvidia0"
        if [ -x /usr/bin/python3 ]; then
                ok "$who: warm ones, too" run serve pool add --size 1 -p "$T/d/warm"
                soon ready 3
                is "$who: which have imported already" "$(run run --pool require -p "$T/d/warm" -- python3 -c 'import os, sys; print("json" in sys.modules, os.path.exists("/dev/nvidiactl"))')" "True True"
        else
                skip "$who: warm ones, too" "no /usr/bin/python3"
        fi
        kill "$serve" && soon gone "$serve"
done

# ---- for models ----
call='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"ls /dev | grep -c nvidia"}}}'
{ printf '%s\n' "$call" && soon grep -q '"id":2' "$T/mcp"; } | timeout 60 "$CORDON" mcp --gpu >"$T/mcp" 2>&1
is "a tool of cordon mcp has the nodes" "$(sed -n 's/.*"id":2,/{/p' "$T/mcp" | jq -r '.result.structuredContent.stdout')" 4

# ---- for tenants ----
command -v curl >/dev/null && command -v jq >/dev/null || { skip "tenants" "curl or jq is missing"; done_testing; }
rm -rf "$T/d"
who=root
. "$here/helpers/serve.sh"
configure
tenant a b c
tenants=$C/cordon/serve/tenants
printf '{"rate": 1000, "gpu_boxes": 2}' >"$tenants/a/tenant.json"
printf '{"rate": 1000}' >"$tenants/b/tenant.json"
printf '{"rate": 1000, "gpu_boxes": 0}' >"$tenants/c/tenant.json"
for t in a b c; do
        printf 'use base/system\ngpu\nlimit time 100s\n' >"$tenants/$t/policies/gpu.cordon"
        printf 'use base/system\ngpu 1\nlimit time 100s\n' >"$tenants/$t/ceiling.cordon"
done
a=$(token a) b=$(token b) c=$(token c)
serve --gpu-boxes 2
later() { run "$1" '{"argv":["sleep","3048"],"policy":"'"${2:-gpu}"'","wait":false}' | jq -r .id; }
state() { http GET "/v1/runs/$2" "$1" | jq -r .state; }
runs() { [ "$(state "$1" "$2")" = running ]; }
end() { http DELETE "/v1/runs/$2" "$1" >/dev/null; }
session() { http POST /v1/sessions "$1" -H 'Content-Type: application/json' -d '{"policy":"gpu"}'; }
is "door lines may have it, within the ceiling" "$(run "$a" '{"argv":["sh","-c","ls /dev | grep -c nvidia"],"lines":"use base/system\ngpu 1\nlimit time 9s\n"}' | jq -r .stdout)" 3
has "and no other GPU" "$(run "$a" '{"argv":["true"],"lines":"use base/system\ngpu 0\nlimit time 9s\n"}')" "exceed the tenant's ceiling"
has "a tenant that may have none is told so" "$(run "$c" '{"argv":["true"],"policy":"gpu"}')" "gpu_boxes is 0"
is "which is no fault of the server" "$(answered)" 403
first=$(later "$b")
ok "a box with a GPU" soon runs "$b" "$first"
second=$(later "$b")
other=$(later "$b" default)
ok "a run without one does not wait for it" soon runs "$b" "$other"
is "a tenant has one at once, unless more are said" "$(state "$b" "$second")" queued
mine=$(later "$a")
ok "another tenant has the rest" soon runs "$a" "$mine"
more=$(later "$a")
has "a session is refused, with the reason" "$(session "$a")" "as many boxes have a GPU"
is "it can be tried again" "$(answered)" 429
is "the host has no more than two" "$(state "$a" "$more")" queued
is "an operator sees how many" "$(http GET /v1/tenants "$(cordon serve token new --scopes admin 2>/dev/null)" | jq -c '[.tenants[] | select(.name == "a") | .gpu_boxes, .gpu_boxes_most]')" "[1,2]"
end "$b" "$first"
end "$a" "$mine"
ok "what is given back is had by who waits" soon runs "$b" "$second"
ok "of either tenant" soon runs "$a" "$more"
end "$b" "$second"
ended() { [ "$(state "$b" "$second")" = ended ]; }
ok "a run ends" soon ended
is "now a session starts" "$(session "$b" | jq -r .policy)" gpu
has "and holds its GPU while it lasts" "$(session "$b")" "as many boxes have a GPU"
kill "$serve" && soon gone "$serve"
done_testing
