#!/bin/sh
# `cordon page`: the page of one person, without any set-up. Its address is good once, for this user alone; it shows the user's runs, approvals and
# changes, and the story of the last agent one click away, in a real browser. Nothing of a box becomes markup, and nothing is left.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
for p in curl jq python3; do command -v "$p" >/dev/null || { skip "the page of one person" "$p is missing"; done_testing; }; done
pids=""
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; remove "$T"; exit $code' EXIT
# A user of the test's own: boxes of other tests are not its.
if [ "$(id -u)" -eq 0 ]; then
        as_own() { setpriv --reuid 65531 --regid 65531 --clear-groups env CORDON_STATE="$T/state-own" "$@"; }
else
        as_own() { env CORDON_STATE="$T/state-own" "$@"; }
fi
mine() { as_own env XDG_RUNTIME_DIR="$T/run" HOME="$T/home" timeout -k 5 60 "$CORDON" "$@" </dev/null; }
for d in run home work state-own; do mkdir -m 700 "$T/$d"; [ "$(id -u)" -ne 0 ] || chown 65531:65531 "$T/$d"; done
# Approvals are answered from a terminal outside every box: the page has one, where it was started.
cat >"$T/terminal.py" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while got := os.read(fd, 65536):
        os.write(1, got)
except OSError:
    pass
os.waitpid(pid, 0)
END
open_page() { # the page, at $at; its pid is in $page
        : >"$T/said" && chmod 666 "$T/said"
        as_own env XDG_RUNTIME_DIR="$T/run" HOME="$T/home" python3 "$T/terminal.py" sh -c 'echo $$; exec "$@"' sh "$CORDON" page --no-open >"$T/said" </dev/null &
        soon grep -q once= "$T/said" || cat "$T/said"
        page=$(sed -n 1p "$T/said" | tr -d '\r') address=$(grep once= "$T/said" | tr -d '\r')
        at=${address%/#*} once=${address#*once=}
        pids="$pids $page"
}
enter() { as_own curl -sS -X POST -d "{\"once\":\"$1\"}" "$at/v1/token"; }
ask() { # METHOD PATH [CURL OPTION]...
        a_method=$1 a_path=$2
        shift 2
        as_own curl -sS --max-time 60 -X "$a_method" -H "Authorization: Bearer $token" "$@" "$at$a_path"
}

evil=$(printf '<img src=x onerror=document.title=1337>\342\200\256\033[2J')
mine run --name agent -- sh -c 'curl -s http://evil.test/; exit 3' "$evil" >"$T/out" 2>"$T/err"
(cd "$T/work" && echo one >x.txt && { [ "$(id -u)" -ne 0 ] || chown 65531:65531 x.txt; })
(cd "$T/work" && mine run --name pen --edit . -- sh -c 'echo two >>x.txt; echo y >"<b>y"' >"$T/out" 2>&1)
open_page
is "the address is of this host" "${at%:*}" "http://127.0.0.1"
is "without the address nobody is let in" "$(enter 0000 | jq -r .type)" "urn:cordon:error:once"
token=$(enter "$once" | jq -r .token)
is "the address gives a token" "${token%_*}" cordon_page
is "once" "$(enter "$once" | jq -r .status)" 401
is "without a token nothing is told" "$(as_own curl -s "$at/v1/runs" | jq -r .status)" 401
is "another site is refused" "$(ask GET /v1/runs -H 'Origin: http://evil.test' | jq -r .type)" "urn:cordon:error:origin"
is "and another name of this host" "$(ask GET /v1/runs -H 'Host: evil.test' | jq -r .type)" "urn:cordon:error:host"
if [ "$(id -u)" -eq 0 ]; then
        is "another user is not even answered" "$(curl -s --max-time 10 "$at/v1/health")" ""
else
        skip "another user is not even answered" "one user is here"
fi
is "runs are listed, the newest first" "$(ask GET /v1/runs | jq -r '[.runs[] | select(.policy == "pen" or .policy == "agent") | .policy + " " + (.status | tostring)] | join(",")')" "pen 0,agent 3"
run=$(ask GET /v1/runs | jq -r '.runs[] | select(.policy == "agent").run')
is "one run has its figures" "$(ask GET "/v1/runs/$run" | jq -r '[.state, .end, (.memory_peak > 0)] | join(" ")')" "ended exited true"
is "and its records" "$(ask GET "/v1/ledger?run=$run" | jq -r '.records[0].kind')" start
is "its changes are listed" "$(ask GET /v1/changes | jq -r '.[0] | .state + " " + (.entries | tostring)')" "waiting 2"
is "it starts no box" "$(ask POST /v1/runs -H 'Content-Type: application/json' -d '{"argv":["true"]}' | jq -r '.status >= 400')" true

# what runs, and what waits
mine run --name sleeper -- sleep 1000 >"$T/out" 2>&1 &
listed() { ask GET /v1/runs | jq -r '[.runs[] | select(.policy == "'"$1"'")][0] | .state + " " + (.argv | join(" "))'; }
runs_now() { [ "$(listed sleeper)" = "running sleep 1000" ]; }
ok "what runs is told with its command" soon runs_now || ask GET /v1/runs
ask DELETE "/v1/runs/$(ask GET /v1/runs | jq -r '.runs[] | select(.policy == "sleeper").id')" >/dev/null
has_ended() { [ "$(listed sleeper | cut -c1-5)" = ended ]; }
ok "and is stopped" soon has_ended
printf 'use base/system\nrun echo ask\n' >"$T/asks.cordon"
mine run --name asks -p "$T/asks.cordon" -- echo approved >"$T/asked" 2>&1 &
waits() { [ "$(ask GET /v1/approvals | jq '.approvals | length')" = 1 ]; }
ok "what waits for a yes is told" soon waits
id=$(ask GET /v1/approvals | jq -r '.approvals[0].id')
is "with its run, and exactly" "$(ask GET "/v1/approvals/$id" | jq -r '.why.policy + ": " + .item.effect')" "asks: start echo approved"
answer() { ask POST "/v1/approvals/$id" -H 'Content-Type: application/json' -d "{\"digest\":\"$id\",\"answer\":\"yes\",\"reason\":\"fine\",\"challenge\":\"$(echo "$id" | tail -c 5)\"}" | jq -r '.state // .type'; }
answered_yes() { [ "$(answer)" = approved ]; }
ok "and answered" soon answered_yes || answer
ok "which lets it go on" soon grep -q '^approved' "$T/asked"
is "nobody's secret is in the ledger" "$(mine ledger --json | grep -c -e "$once" -e "$token")" 0
kill "$page"
gone() { ! kill -0 "$page" 2>/dev/null; }
ok "a signal ends it" soon gone

if ! command -v chromium >/dev/null; then
        skip "in a browser" "chromium is missing"
        done_testing
fi
open_page
mkdir -m 700 "$T/chromium" "$T/chromium2" && { [ "$(id -u)" -ne 0 ] || chown 65531:65531 "$T/chromium" "$T/chromium2"; }
cp "$here/helpers/browser.py" "$T/browser.py"
browse() { as_own env HOME="$T/home" timeout -k 5 120 python3 "$T/browser.py" "$@" >"$T/page" 2>"$T/browser" || cat "$T/page" "$T/browser"; }
line() { sed -n "$1p" "$T/page"; }
browse "$address" "$T/chromium" 'wait:document.querySelector("#last")' 'js:location.hash' 'js:[...document.querySelectorAll("#side nav a")].map(a => a.textContent).join(" ")' 'js:document.querySelector("#last .soft").textContent' \
        'click:#last a' 'wait:document.querySelector("svg.pic .nd.deny")' 'js:document.querySelector("svg.pic .nd.deny .what").textContent' 'js:(window.old = 1, location.reload())' 'wait:window.old === undefined && document.querySelector("svg.pic")' \
        'click:[data-key=navchanges]' 'wait:document.querySelector("main .rows a")' 'click:main .rows a' 'wait:document.querySelector("#apply")' 'js:[...document.querySelectorAll(".pickable code")].map(c => c.textContent).join(" ")' \
        'js:document.querySelectorAll("main img, main b:not([class]) b").length + document.title' 'js:history.back()' 'wait:location.hash === "#/changes"'
is "the address is not in the address bar" "$(line 1)" "#/"
is "the views of one person" "$(line 2)" "Overview Runs Approvals Changes Ledger Usage Storage"
has "the last agent is there" "$(line 3)" "the last agent, in the box agent"
has "one click leads to its story, with what was blocked" "$(line 4)" "look up a host name"
is "a reload stays there; changes are those of the user" "$(line 6)" "<b>y x.txt"
has "and no name is markup" "$(line 7)" "0Changes in "
browse "$address" "$T/chromium2" 'wait:document.querySelector("#why")' 'js:document.querySelector("#why").textContent'
has "a second browser is told that the address was used" "$(line 1)" "used"
kill -9 "$page" 2>/dev/null
soon gone
is "a killed page leaves nothing" "$(find "$T/run" "$T/home" -mindepth 1 -newer "$T/said" ! -path '*/.config/*' ! -path '*/.cache/*' ! -path '*/.pki*' ! -path '*/.local/*' | grep -v -e '/\.config$' -e '/\.cache$' | head -3)" ""
done_testing
