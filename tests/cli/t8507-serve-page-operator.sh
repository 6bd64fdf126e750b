#!/bin/sh
# The page of `cordon serve --http` for an operator, in a real browser: tenants, parked boxes, audits with their trend; by keyboard, and as a screen
# reader gets it. A token sees the views that it may see. Hostile names everywhere.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
for p in curl jq chromium python3; do
        command -v "$p" >/dev/null || { skip "the operator's page" "$p is missing"; done_testing; }
done
. "$here/helpers/serve.sh"
configure
R=$C/run
$who mkdir -m 700 "$R"
tenant a idle
a=$(token a run,read) runner=$(token a run) none=$(token a policy) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")
browse() { # TOKEN[&view=...] STEP...
        b_at=$1
        shift
        timeout -k 5 120 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$b_at" "$T/chromium" "$@" >"$T/page" || cat "$T/page"
}
line() { sed -n "$1p" "$T/page"; }
heading() { echo "wait:document.querySelector('main h1')?.textContent === '$1'"; }
nav='js:[...document.querySelectorAll("#side nav a")].map(b => b.textContent).join(" ")'

# what a token may see
is "a token knows its tenant and scopes" "$(http GET /v1/token "$runner" | jq -c '[.tenant, .scopes]')" '["a",["run"]]'
is "that of the host has none" "$(http GET /v1/token "$admin" | jq -c '[.tenant, .scopes]')" '[null,["admin"]]'
browse "$runner" "$(heading Overview)" "$nav"
is "a token that runs has the views of runs" "$(line 1)" "Overview Runs Policies Storage"
browse "$none" 'wait:document.querySelector("#why")' 'js:document.querySelector("#why").textContent' 'js:document.activeElement.id'
has "one that may see nothing is told so" "$(line 1)" "it needs the scope run, read"
is "and can enter another" "$(line 2)" token
browse wrong 'wait:document.querySelector("#why")' 'js:document.querySelector("#why").textContent' "text:$a" key:Enter "$(heading Overview)" 'js:document.activeElement.tagName' \
        'js:location.hash' 'js:(window.old = 1, location.reload())' 'wait:window.old === undefined' "$(heading Overview)" 'click:[href="#/signin"]' 'wait:document.querySelector("#token")' 'js:sessionStorage.getItem("token")'
has "so is one that is not valid" "$(line 1)" "not valid"
is "which is typed, by keyboard" "$(line 2)" H1
is "the token is not in the address" "$(line 3)" "#/"
is "a reload keeps it, to sign out does not" "$(line 5)" None

# the operator's views
evil=$(printf '<img src=x onerror=document.title=1337>\342\200\256\033[2J')
body=$(jq -n -c --arg e "$evil" '{argv:["sh","-c","exit 7",$e]}')
run "$a" "$body" >/dev/null
run "$a" "$body" >/dev/null
browse "$admin" "$(heading Admin)" "$nav" 'js:document.querySelector("main section h2").textContent + "|" + [...document.querySelectorAll("main .limits")][0].textContent + "|" + document.querySelector("main .foots").textContent' \
        'js:document.querySelector("#quiet").textContent' 'click:[data-key=tabpool]' 'wait:document.querySelector("#pool")' 'js:document.querySelector("#pool").textContent.startsWith("Parked")' \
        'click:[data-key=tabaudit]' 'wait:document.querySelector("main .empty code")' 'js:document.querySelector("main .empty code").textContent' tree
is "the host's token has the operator's views" "$(line 1)" "Usage Admin"
has "tenants are listed with their limits" "$(line 2)" "a|Runs0 of 8Queue0 of 64Sessions0 of 4"
has "and what they did" "$(line 2)" "2 started2 failed"
is "and those without a request" "$(line 3)" "Without a request since the server started: idle"
is "the pool is shown" "$(line 4)" True
is "without an audit the page says how to make one" "$(line 5)" "cordon selftest audit"
has "a screen reader gets the views as such" "$(cat "$T/page")" "navigation Views"
has "and the heading" "$(cat "$T/page")" "heading Admin"

# audits are records of the host's ledger; in a state of this test's own
cat >"$T/audits.js" <<'EOS'
const audit = (day, debt, caps) => ({ time: Date.UTC(2026, 9, day) * 1000, kind: 'audit', target: 'debt', result: '1 open',
  more: { debt, caps, host: '0', incidents: '0', 'incident-budget': '4', repairs: '<img src=x onerror=document.title=1337>: sudo true\n' } });
const real = fetch;
window.fetch = (path, o) => path === '/v1/audits'
  ? Promise.resolve(new Response(JSON.stringify({ audits: [audit(1, 30, '30 caps.time=2026-10-01'), audit(2, 12, '12 caps.time=2026-10-01')] }), { headers: { 'Content-Type': 'application/json' } }))
  : real(path, o);
EOS
browse "$admin&view=admin/audit" "before:$T/audits.js" 'wait:document.querySelector("#debt")' 'js:document.querySelector("#debt").textContent' 'js:[...document.querySelectorAll("main tbody")][0].textContent' \
        'js:document.querySelector("#repairs").textContent.trim()' 'js:document.querySelectorAll("img").length + document.title' 'wait:document.querySelector(".trend")' tree
is "debt and its change" "$(line 1)" "12 (-18)"
is "by group, with what is open since when" "$(line 2)" "caps12-18caps.time since 2026-10-01host0same"
has "the cheapest repairs, inert" "$(line 3)" "<img src=x onerror=document.title=1337>: sudo true"
is "no script of a record ran" "$(line 4)" "0Admin - cordon"
has "the trend has words" "$(cat "$T/page")" "image debt of 2 audits: 30, 12"

# runs, as a screen reader gets them, and by keyboard
browse "$a&view=runs" "$(heading Runs)" tree
sed 's/"//g' "$T/page" >"$T/tree"
has "the state of the page is a live region" "$(http GET / none)" 'id="toast" role="status"'
has "the table has a name" "$(cat "$T/tree")" "table Runs"
has "and columns" "$(cat "$T/tree")" "columnheader Command"
has "a link tells which run it shows" "$(grep '^link sh' "$T/tree")" '<img src=x onerror=document.title=1337>'
is "no button is without a name" "$(grep -c '^button *$' "$T/tree")" 0
has "a field has a label" "$(cat "$T/tree")" "searchbox Search command, policy, person, label, state, id"
at='js:[...document.querySelectorAll("td.cmd a")].indexOf(document.activeElement)'
browse "$a&view=runs" "$(heading Runs)" key:j "$at" key:j "$at" 'js:window.before = document.querySelector("main h1"), draw(), 0' 'wait:document.querySelector("main h1") !== window.before' "$at" \
        key:Enter 'wait:document.querySelector("main .facts")' 'js:document.querySelector("main h1").textContent' key:Escape "$(heading Runs)" \
        key:/ 'js:document.activeElement.id' 'text:exit 7' 'wait:location.hash.includes("q=exit")' "$(heading Runs)" 'js:history.length > 2' \
        'click:[data-key=navledger]' "$(heading Ledger)" key:/ text:sh 'wait:location.hash.includes("q=sh") && document.querySelector("main .rec")' \
        'js:(k => k.includes("start") && !k.includes("view"))([...document.querySelectorAll("main .rec")].map(d => d.children[1].textContent))' \
        'js:history.back()' 'wait:location.hash.startsWith("#/runs")'
is "j chooses a run" "$(line 1)" 0
is "and the next" "$(line 2)" 1
is "which stays chosen when the page is drawn again" "$(line 4)" 1
has "Enter shows it, its name inert" "$(line 5)" '<img src=x onerror=document.title=1337>\u{202e}\u{1b}[2J'
is "Escape goes back, / to the search" "$(line 6)" find
is "and what was seen is in the browser's history" "$(line 7)" True
is "records are found by a part of their target, and the search itself is not among them" "$(line 8)" True
browse "$runner&view=runs" "$(heading Runs)" key:j key:Enter 'wait:document.querySelector("main .facts")' 'js:document.querySelector("#toast").textContent + document.querySelectorAll("main .note.bad").length'
is "a run is shown to a token that reads no records" "$(line 1)" 0
done_testing
