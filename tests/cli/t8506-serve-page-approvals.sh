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

evil=$(printf '<img src=x onerror=document.title=1337>\342\200\256\033[2J')
begin echo "$evil"
browse "&view=approvals" 'wait:document.querySelector("#waiting button")' 'wait:document.querySelector("nav button").textContent === "approvals (1)"' \
        'js:document.querySelector("#waiting code").textContent' key:j key:Enter 'wait:document.querySelector("#yes")' 'js:document.querySelector("pre").textContent.split("\n")[0]' \
        key:w 'wait:document.querySelector("#why").open' 'js:document.querySelector("#why code").textContent' 'js:document.querySelectorAll("img, script:not([nonce])").length' \
        'js:document.activeElement.tagName' key:y 'js:document.activeElement.id' key:Enter 'wait:document.querySelector("#state").textContent.startsWith("approved")' \
        'wait:document.querySelector("nav button").textContent === "approvals"' 'js:document.title' >"$T/page" || cat "$T/page"
is "the list has the effect, inert" "$(sed -n 1p "$T/page")" 'start echo <img src=x onerror=document.title=1337>\u{202e}\x1b[2J'
is "by keyboard it is read, exactly" "$(sed -n 2p "$T/page")" 'start echo <img src=x onerror=document.title=1337>\u{202e}\x1b[2J'
has "w says why it asks" "$(sed -n 3p "$T/page")" "echo ask"
is "nothing of it became markup" "$(sed -n 4p "$T/page")" 0
is "the focus goes to the summary, and with y to the answer" "$(sed -n 5,6p "$T/page" | xargs)" "SUMMARY yes"
is "no script of a box ran" "$(sed -n 7p "$T/page")" "approvals - cordon"
ok "Enter approves: it runs" soon has_end exited

begin echo second
browse "&view=approvals" 'wait:document.querySelector("#waiting button")' key:j key:Enter 'wait:document.querySelector("#yes")' 'click:#reason' \
        'js:document.querySelector("#reason").focus()' 'text:not today' 'js:[...document.querySelectorAll("main input, main select")].every(i => i.labels.length === 1)' \
        'js:document.querySelector("#no").focus()' key:Enter 'wait:document.querySelector("#state").textContent.startsWith("denied")' >"$T/page" || cat "$T/page"
is "every field has a label" "$(sed -n 2p "$T/page")" True
ok "a no ends it" soon has_end failed
is "with its reason on record" "$(http GET '/v1/ledger?last=20&kind=gate' "$runner" | jq -r '[.records[].more.reason? // empty] | join(" ")')" "not today"

# while the page is open
(sleep 0; begin echo third) &
browse "" 'wait:document.querySelector("nav button").textContent === "approvals (1)"' 'js:document.querySelector("#news").textContent' >"$T/page" || cat "$T/page"
wait $!
is "what comes later is announced" "$(cat "$T/page")" "waits for an approval: start echo third"

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
browse "" 'wait:/^100[0-9] runs/.test(document.querySelector("main p").textContent)' 'js:document.querySelectorAll("main tbody tr").length' 'wait:document.querySelector(".card svg polyline")' \
        'js:document.querySelectorAll(".card").length' >"$T/page" || cat "$T/page"
is "a thousand runs are counted, and a hundred drawn" "$(sed -n 1p "$T/page")" 100
is "those that run have lines of their figures" "$(sed -n 2p "$T/page")" 2
done_testing
