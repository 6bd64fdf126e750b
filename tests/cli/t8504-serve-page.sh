#!/bin/sh
# The page of `cordon serve --http` in a real browser: it shows runs, denials and records, and nothing that a box or a tenant names is
# ever taken for markup. And the description for programs: every path of it is answered.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a
a=$(token a run,read,files,apply,approve,vault,policy) admin=$(cordon serve token new --scopes admin 2>/dev/null)
serve --http 127.0.0.1:0
port=$(sed -n 's,.*HTTP at http://.*:\([0-9]*\)/$,\1,p' "$T/said")

http GET /v1/openapi.json none >"$T/openapi"
is "the description is OpenAPI 3.1" "$(answered) $(jq -r .openapi <"$T/openapi")" "200 3.1.0"
jq -r '.paths | to_entries[] | .key as $p | .value | to_entries[] | select(.value["x-stream"] | not) | "\(.key) \($p) \(.value["x-scopes"][0] // "none")"' <"$T/openapi" | grep -v /v1/drain >"$T/paths"
is "it has many paths" "$(test "$(wc -l <"$T/paths")" -gt 30 && echo yes)" yes
while read -r method path scope; do
        who_asks=$a
        [ "$scope" != admin ] || who_asks=$admin
        p=$(echo "$path" | sed 's/{[a-z]*}/none-such/')
        http "$(echo "$method" | tr '[:lower:]' '[:upper:]')" "$p" "$who_asks" >"$T/body"
        case $(answered):$(jq -r '.type? // ""' <"$T/body" 2>/dev/null) in
        405:* | 404:urn:cordon:error:path | 401:* | 403:urn:cordon:error:scope | 5*) fail "$method $path answers" "$(answered)" "$(head -c 300 "$T/body")" ;;
        *) pass "$method $path answers" ;;
        esac
done <"$T/paths"
is "the answer of a run has the members that it describes" \
        "$(run "$a" '{"argv":["true"]}' | jq -r 'keys[]' | while read -r k; do jq -e --arg k "$k" '.components.schemas.Run.properties[$k]' <"$T/openapi" >/dev/null || echo "$k"; done)" ""

head=$(http GET / none -D - -o "$T/page")
has "the page permits no script but its own" "$head" "default-src 'none'; script-src 'nonce-"
has "and no markup from text" "$head" "require-trusted-types-for 'script'"
has "and how an operator does" "$(cat "$T/page")" "cordon serve token new --scopes admin'"
has "the page says how to get a token" "$(cat "$T/page")" "cordon serve token new --tenant NAME'"
is "the page names no other host" "$(grep -c 'https\?://' "$T/page")" 0
is "and never parses markup" "$(grep -c 'innerHTML\|outerHTML\|insertAdjacent\|document.write\|eval(' "$T/page")" 0

if ! command -v chromium >/dev/null; then
        skip "in a browser" "chromium is not installed"
        done_testing
fi
evil='<img src=x onerror=document.title=1337><script>document.title=1337</script>'
id=$(run "$a" "$(jq -n -c --arg e "$evil" '{argv:["sh","-c","echo \"$0\"; curl -s http://evil.test/ ; exit 7",$e]}')" | jq -r .id)
# browse FRAGMENT: the document, when it has been drawn
browse() {
        timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --no-proxy-server --user-data-dir="$T/chromium" --virtual-time-budget=8000 --dump-dom \
                "http://127.0.0.1:$port/$1" 2>"$T/browser"
}
dom=$(browse "#token=$a&view=runs")
has "runs are listed, their names inert" "$dom" '&lt;img src=x onerror='
has "with what became of them" "$dom" "Exited 7"
dom2=$(browse "#token=$a&view=run/$id/output")
has "a run has its output" "$dom2" '<div>&lt;img src=x'
dom3=$(browse "#token=$a&view=run/$id/blocked")
has "and the line that would allow what was denied" "$dom3" "net evil.test:80"
dom4=$(browse "#token=$a&view=run/$id")
has "and what led to what" "$dom4" 'aria-label="What came in, the box, and what it did"'
echo x | http PUT '/v1/files/%3Cimg%20src=x%20onerror=document.title=1337%3E' "$a" --data-binary @- >/dev/null
dom5=$(browse "#token=$a&view=storage")
has "files are listed, their names inert" "$dom5" '&lt;img src=x onerror=document.title=1337&gt;'
has "and what was used is drawn" "$(browse "#token=$a&view=usage")" 'aria-label="Runs: done'
hasnt "no script of a box ran" "$dom$dom2$dom3$dom4$dom5" "<title>1337"
has "records are searched" "$(browse "#token=$a&view=ledger?kind=denied")" 'aria-expanded="false"'
has "the operator sees the tenants" "$(browse "#token=$admin&view=admin")" 'data-tenant="a"'
done_testing
