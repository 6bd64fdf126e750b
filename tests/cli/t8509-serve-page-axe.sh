#!/bin/sh
# The page, judged by axe-core (make deps fetches it) in a real browser: contrast, names, roles and order of every view, in light, dark and as on a
# phone; and no view is wider than the window.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
axe=$(cd "$here/../.." && pwd)/.deps/axe.min.js
for p in curl jq chromium python3; do
        command -v "$p" >/dev/null || { skip "the page by axe-core" "$p is missing"; done_testing; }
done
[ -f "$axe" ] || { skip "the page by axe-core" "axe.min.js is missing: make deps fetches it"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
P=$C/cordon/serve/tenants/a
$who sh -c 'printf "use base/system\nedit {work}\nrun any\n" >"$1/policies/edit.cordon"; printf "use base/system\nrun echo ask\n" >"$1/policies/asks.cordon"' sh "$P"
pen=$(token a run,read,files,apply,policy,vault) boss=$(cordon serve token new --tenant a --scopes run,read,files,apply,approve,policy,vault --as boss 2>/dev/null)
admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")
printf 'one\n' | http PUT /v1/files/x.txt "$pen" --data-binary @- >/dev/null
got=$(run "$pen" '{"argv":["sh","-c","echo two >>x.txt; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; curl -s http://evil.test/; printf \"\\033[31mred\\033[0m\\n\" >&2; exit 3"],"policy":"edit"}')
id=$(printf '%s' "$got" | jq -r .id) change=$(printf '%s' "$got" | jq -r .changes)
run "$pen" '{"argv":["true"]}' >/dev/null
run "$pen" '{"argv":["sleep","1000"],"wait":false}' >/dev/null
run "$pen" '{"argv":["echo","hi"],"policy":"asks","wait":false}' >/dev/null
waits() { [ "$(http GET /v1/approvals "$boss" | jq '.approvals | length')" = 1 ]; }
ok "something waits for a yes" soon waits
ask=$(http GET /v1/approvals "$boss" | jq -r '.approvals[0].id')
cat >"$T/judge.js" <<'END'
window.judge = () => axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).slice(0, 3).join(', ')).join('; ') || 'none');
window.wide = () => Math.max(0, document.documentElement.scrollWidth - innerWidth);
END
cat "$axe" "$T/judge.js" >"$T/axe.js"
there='wait:window.axe && document.querySelector("main h1") && document.querySelector("main").getAttribute("aria-busy") === "false"'
each() { # LOOK TOKEN VIEW...
        e_look=$1 e_token=$2
        shift 2
        n=$#
        for v; do set -- "$@" "js:void (location.hash = '#/${v#-}')" "$there" 'js:new Promise(done => setTimeout(() => requestAnimationFrame(() => done()), 200))' "js:judge().then(t => '= #/${v#-} ' + t + ' | ' + wide())"; done
        shift "$n"
        case $e_look in dark) set -- dark "$@" ;; phone) set -- width:390 "$@" ;; esac
        timeout -k 5 500 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$e_token" "$T/chromium" "before:$T/axe.js" "$there" "$@" >"$T/judged" 2>&1
        is "every view was judged, $e_look" "$(grep -v "^= " "$T/judged" | grep -v -e "^None$" | head -3)" ""
        is "all of them, $e_look" "$(grep -c '^= ' "$T/judged")" "$n"
        is "no view has a fault, $e_look" "$(grep '^= ' "$T/judged" | grep -v ' none | 0$')" ""
}
for look in light dark phone; do
        each $look "$boss" - runs 'runs?state=failed' 'runs?q=nothing-like-it' "run/$id" "run/$id/output" "run/$id/blocked" "run/$id/changes" "run/$id/records" sessions approvals "approvals/$ask" changes "changes/$change" \
                policies policies/edit 'policies/edit?part=versions' 'policies/edit?part=text' ledger 'ledger?kind=denied' usage 'usage?range=24h' storage storage/images storage/vault more nowhere
        each $look "$admin" admin admin/pool admin/audit admin/tokens usage
done
timeout -k 5 120 python3 "$here/helpers/browser.py" "http://127.0.0.1:$port/#token=$boss" "$T/chromium" "before:$T/axe.js" "$there" 'js:void document.querySelector("main").append(document.createElement("input"))' 'js:judge()' >"$T/judged"
has "a field without a name is a fault" "$(cat "$T/judged")" "label: "
done_testing
