#!/bin/sh
# Approvals on the page of `cordon serve --http`, in a real browser, by keyboard: the exact effect is shown inert, and yes, no and why are
# answered without a mouse. A thousand runs do not stall it.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
for p in curl jq chromium python3; do
        command -v "$p" >/dev/null || { skip "approvals on the page" "$p is missing"; done_testing; }
done
. "$here/helpers/serve.sh"
configure
tenant a
runner=$(token a run,read) boss=$(cordon serve token new --tenant a --scopes approve,read --as boss-1 2>/dev/null)
P=$C/cordon/serve/tenants/a
$who sh -c 'printf "use base/system\nread {work}\nrun echo ask\n" >"$1/policies/start.cordon"; printf "{\"runs\": 2, \"queue\": 2000, \"rate\": 100000}" >"$1/tenant.json"' sh "$P"
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")
browse() { # FRAGMENT STEP...
        b_at=$1
        shift
        timeout -k 5 120 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$boss$b_at" "$T/chromium" "$@"
}
begin() { job=$(run "$runner" "$(jq -n -c '{argv:$ARGS.positional, policy:"start", wait:false}' --args "$@")" | jq -r .id); }
end_of() { http GET "/v1/runs/$job" "$runner" | jq -r '.state, .end' | xargs; }
has_end() { [ "$(end_of)" = "ended $1" ]; }

waits() { echo "wait:document.querySelector('[data-key=navapprovals]')?.textContent === 'Approvals$1'"; }
evil=$(printf '<img src=x onerror=document.title=1337>\342\200\256\033[2J')
begin echo "$evil"
browse "&view=approvals" 'wait:document.querySelector("#waiting a")' "$(waits 1)" \
        'js:document.querySelector("#waiting code").textContent' key:j key:Enter 'wait:document.querySelector("#yes")' 'js:document.querySelector("#text").textContent.split("\n")[0]' \
        key:w 'js:document.activeElement.textContent' 'js:document.querySelectorAll("img, script:not([nonce])").length' \
        'js:document.activeElement.id' key:y 'js:document.activeElement.id' key:Enter 'wait:document.querySelector("#toast").textContent.startsWith("approved")' \
        "$(waits '')" 'js:document.title' >"$T/page" || cat "$T/page"
is "the list has the effect, inert" "$(sed -n 1p "$T/page")" 'start echo <img src=x onerror=document.title=1337>\u{202e}\x1b[2J'
is "by keyboard it is read, exactly" "$(sed -n 2p "$T/page")" 'start echo <img src=x onerror=document.title=1337>\u{202e}\x1b[2J'
has "w says why it asks" "$(sed -n 3p "$T/page")" "echo ask"
is "nothing of it became markup" "$(sed -n 4p "$T/page")" 0
is "the focus goes to the line that asks, and with y to the answer" "$(sed -n 5,6p "$T/page" | xargs)" "why yes"
is "no script of a box ran" "$(sed -n 7p "$T/page")" "Approvals - cordon"
ok "Enter approves: it runs" soon has_end exited

begin echo second
browse "&view=approvals" 'wait:document.querySelector("#waiting a")' key:j key:Enter 'wait:document.querySelector("#yes")' \
        'js:document.querySelector("#reason").focus()' 'text:not today' 'js:[...document.querySelectorAll("main input, main select")].every(i => i.getAttribute("aria-label") || i.labels.length === 1)' \
        'js:document.querySelector("#no").focus()' key:Enter 'wait:document.querySelector("#toast").textContent.startsWith("denied")' >"$T/page" || cat "$T/page"
is "every field has a label" "$(sed -n 2p "$T/page")" True
ok "a no ends it" soon has_end failed
is "with its reason on record" "$(http GET '/v1/ledger?last=20&kind=gate' "$runner" | jq -r '[.records[].more.reason? // empty] | join(" ")')" "not today"

# while the page is open
(sleep 0; begin echo third) &
browse "" "$(waits 1)" 'js:document.querySelector("#news").textContent' >"$T/page" || cat "$T/page"
wait $!
is "what comes later is announced" "$(cat "$T/page")" "waits for an approval: start echo third"

# a change: shown with its flags, applied without them, undone
pen=$(token a run,read,files,apply)
$who sh -c 'printf "use base/system\nedit {work}\n" >"$1/policies/edit.cordon"' sh "$P"
http PUT /v1/files/x.txt "$pen" --data-binary "one
" >/dev/null
change=$(run "$pen" '{"argv":["sh","-c","echo two >>x.txt; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit"],"policy":"edit"}' | jq -r .changes)
timeout -k 5 120 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$pen&view=changes/$change" "$T/chromium" 'wait:document.querySelector("#apply")' 'js:document.querySelector(".pickable a code").textContent' \
        'js:document.querySelector(".note.bad").textContent.includes("would be run or trusted")' 'js:document.querySelector("#apply").textContent' 'click:[data-key="x.txt"]' 'wait:document.querySelector(".diff .add")' \
        'js:document.querySelector(".diff .add").textContent' 'click:#apply' 'click:#apply' 'wait:document.querySelector("#toast").textContent.startsWith("1 file applied")' 'js:document.querySelector("#toast").textContent' \
        'wait:![...document.querySelectorAll(".pickable code")].some(e => e.textContent === "x.txt")' 'click:#undo' 'click:#undo' 'wait:document.querySelector("#toast").textContent.includes("as before")' >"$T/page" || cat "$T/page"
has "what the host would run is the first" "$(sed -n 1p "$T/page")" ".git"
is "and said" "$(sed -n 2,3p "$T/page" | xargs)" "True Apply 1 file"
has "a file has its lines" "$(sed -n 4p "$T/page")" "two"
has "applied is the rest" "$(sed -n 5p "$T/page")" "held back"
is "and all is undone" "$(http GET /v1/files/x.txt "$pen" | xargs)" one

# many
python3 - "$S" "$runner" <<'EOF'
import json, socket, sys
body = json.dumps({"argv": ["sleep", "1000"], "wait": False}).encode()
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f = s.makefile("rb")
for _ in range(1000):
    s.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (sys.argv[2].encode(), len(body), body))
    length = 0
    while (line := f.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    f.read(length)
EOF
browse "&view=runs" 'wait:/of 1,00[0-9] runs/.test(document.querySelector("#counted")?.textContent)' 'js:document.querySelectorAll("main tbody tr").length' \
        'js:document.querySelector("[data-key=chiprunning] b").textContent' 'click:[data-key=chiprunning]' 'wait:/of 2 runs/.test(document.querySelector("#counted")?.textContent)' \
        'wait:document.querySelector("main td svg.spark, main td .spark")' 'js:document.querySelectorAll("main tbody tr").length' >"$T/page" || cat "$T/page"
is "a thousand runs are counted, and fifty drawn" "$(sed -n 1p "$T/page")" 50
is "those that run are counted by themselves, and chosen" "$(sed -n 2,3p "$T/page" | xargs)" "2 2"

# The server keeps the newest that have ended: an older one that is ended while it waits is forgotten at once, after its answer.
for i in $(http GET /v1/runs "$runner" | jq -r '.runs[:70][].id'); do http DELETE "/v1/runs/$i" "$runner" >"$T/body"; done
is "a run that is ended while it waits is answered, however old" "$(answered) $(jq -r .state <"$T/body")" "202 ended"
ok "and the server goes on" up
done_testing
