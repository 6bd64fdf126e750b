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
a=$(token a run,read) runner=$(token a run) vault=$(token a vault) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")
browse() { # TOKEN[&view=...] STEP...
        b_at=$1
        shift
        timeout -k 5 120 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$b_at" "$T/chromium" "$@" >"$T/page" || cat "$T/page"
}
line() { sed -n "$1p" "$T/page"; }
heading() { echo "wait:document.querySelector('main h2')?.textContent === '$1'"; }
nav='js:[...document.querySelectorAll("nav button")].map(b => b.textContent).join(" ")'

# what a token may see
is "a token knows its tenant and scopes" "$(http GET /v1/token "$runner" | jq -c '[.tenant, .scopes]')" '["a",["run"]]'
is "that of the host has none" "$(http GET /v1/token "$admin" | jq -c '[.tenant, .scopes]')" '[null,["admin"]]'
browse "$runner" "$(heading Runs)" "$nav"
is "a token that runs has the views of runs" "$(line 1)" "runs sessions policies"
browse "$vault" 'wait:document.querySelector("#state").className === "bad"' 'js:document.querySelector("#state").textContent' 'js:document.activeElement.id'
has "one that may see nothing is told so" "$(line 1)" "it needs the scope run, read, approve or admin"
is "and can enter another" "$(line 2)" token
browse wrong 'wait:document.querySelector("#state").className === "bad"' 'js:document.querySelector("#state").textContent' "text:$a" key:Enter "$(heading Runs)" 'js:document.activeElement.tagName'
has "so is one that is not valid" "$(line 1)" "not valid"
is "which is typed, by keyboard" "$(line 2)" H2

# the operator's views
evil=$(printf '<img src=x onerror=document.title=1337>\342\200\256\033[2J')
body=$(jq -n -c --arg e "$evil" '{argv:["sh","-c","exit 7",$e]}')
run "$a" "$body" >/dev/null
run "$a" "$body" >/dev/null
browse "$admin" "$(heading Tenants)" "$nav" 'js:[...document.querySelectorAll("main td")].slice(0, 6).map(d => d.textContent).join("|")' 'js:document.querySelector("main p").textContent' \
        'click:[data-view=pool]' "$(heading Pool)" 'js:document.querySelector("main dl").textContent.startsWith("parked")' \
        'click:[data-view=audit]' "$(heading Audit)" 'js:document.querySelector("main pre").textContent' tree
is "the host's token has the operator's views" "$(line 1)" "tenants pool audit metrics"
is "tenants are listed with their limits" "$(line 2)" "a|0 of 8|0 of 64|0 of 4|2|2"
is "and those without a request" "$(line 3)" "Without a request since the server started: idle"
is "the pool is shown" "$(line 4)" True
is "without an audit the page says how to make one" "$(line 5)" "cordon selftest audit"
has "a screen reader gets the views as such" "$(cat "$T/page")" "navigation Views"
has "and the heading" "$(cat "$T/page")" "heading Audit"

# audits are records of the host's ledger; in a state of this test's own
cat >"$T/audits.js" <<'EOS'
const audit = (day, debt, caps) => ({ time: Date.UTC(2026, 9, day) * 1000, kind: 'audit', target: 'debt', result: '1 open',
  more: { debt, caps, host: '0', incidents: '0', 'incident-budget': '4', repairs: '<img src=x onerror=document.title=1337>: sudo true\n' } });
const real = fetch;
window.fetch = (path, o) => path === '/v1/audits'
  ? Promise.resolve(new Response(JSON.stringify({ audits: [audit(1, 30, '30 caps.time=2026-10-01'), audit(2, 12, '12 caps.time=2026-10-01')] }), { headers: { 'Content-Type': 'application/json' } }))
  : real(path, o);
EOS
browse "$admin&view=audit" "before:$T/audits.js" "$(heading 'Audit and debt')" 'js:document.querySelector("main dd").textContent' 'js:[...document.querySelectorAll("main tbody")][0].textContent' \
        'js:document.querySelector("main pre").textContent.trim()' 'js:document.querySelectorAll("img").length + document.title' tree
is "debt and its change" "$(line 1)" "12 (-18)"
is "by group, with what is open since when" "$(line 2)" "caps12-18caps.time since 2026-10-01host0same"
has "the cheapest repairs, inert" "$(line 3)" "<img src=x onerror=document.title=1337>: sudo true"
is "no script of a record ran" "$(line 4)" "0audit - cordon"
has "the trend has words" "$(cat "$T/page")" "image debt of 2 audits: 30, 12"

# runs, as a screen reader gets them, and by keyboard
browse "$a" "$(heading Runs)" tree
sed 's/"//g' "$T/page" >"$T/tree"
has "the state of the page is a live region" "$(http GET / none)" 'id="state" role="status"'
has "the table has a name" "$(cat "$T/tree")" "table Runs"
has "and columns" "$(cat "$T/tree")" "columnheader command"
has "a button tells which run it shows" "$(grep '^button show' "$T/tree")" 'show sh -c exit 7 <img src=x onerror=document.title=1337>'
is "no button is without a name" "$(grep -c '^button *$' "$T/tree")" 0
has "a field has a label" "$(cat "$T/tree")" "textbox Find"
browse "$a" "$(heading Runs)" key:j 'js:document.activeElement.textContent' key:j 'js:[...document.querySelectorAll("tbody button")].indexOf(document.activeElement)' \
        'js:window.before = document.querySelector("main h2"), 0' 'wait:document.querySelector("main h2") !== window.before' 'js:[...document.querySelectorAll("tbody button")].indexOf(document.activeElement)' \
        key:Enter 'wait:document.querySelector("main dl")' 'js:document.querySelector("main h2").textContent' key:Escape "$(heading Runs)" \
        key:/ 'js:document.activeElement.id' 'text:exit 7' key:Enter "$(heading Runs)" 'js:history.length > 3' \
        'click:[data-view=ledger]' "$(heading Ledger)" key:/ text:sh key:Enter 'wait:document.querySelector("#find")?.value === "sh" && document.querySelector("main td")' \
        'js:(k => k.includes("start") && !k.includes("view"))([...document.querySelectorAll("main tr td:nth-child(3)")].map(d => d.textContent))'
is "j chooses a run" "$(line 1)" show
is "and the next" "$(line 2)" 1
is "which stays chosen when the page is drawn again" "$(line 4)" 1
is "Enter shows it, its name inert" "$(line 5)" 'sh -c exit 7 <img src=x onerror=document.title=1337>\u{202e}\u{1b}[2J'
is "Escape goes back, / to the search" "$(line 6)" find
is "and what was seen is in the browser's history" "$(line 7)" True
is "records are found by a part of their target, and the search itself is not among them" "$(line 8)" True
browse "$runner" "$(heading Runs)" key:j key:Enter 'wait:document.querySelector("main dl")' 'js:document.querySelector("#state").textContent + document.querySelectorAll("main .bad").length'
is "a run is shown to a token that reads no records" "$(line 1)" 0
done_testing
