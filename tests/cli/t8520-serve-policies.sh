#!/bin/sh
# `cordon serve --http`: policies in versions, tried by a share of the runs and rolled back; images of a tenant; parameters of the ledger.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "serve over HTTP" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b
a=$(token a run,read,files,policy) b=$(token b run,read,files,policy) runner=$(token a run)
base=$C/cordon/serve/tenants/a
write() { $who sh -c 'cat >"$1"' sh "$1"; }
serve
put() { http PUT "/v1/policies/$1" "$a" -H 'Content-Type: text/plain' --data-binary "$2"; }
first='use base/system
read {work}
limit time 1m
'
second='use base/system
limit time 1m
'

# the ceiling
put job "$first" >/dev/null
is "without a ceiling nobody writes policies" "$(answered)" 403
printf 'use base/system\nreed {work}\n' | write "$base/ceiling.cordon"
put job "$first" >"$T/body"
is "one that does not load is a fault of this side" "$(answered)" 500
has "which says where" "$(jq -r .detail <"$T/body")" "does not load: ceiling.cordon:2:1"
hasnt "without a path of the host" "$(cat "$T/body")" "$C"
has "also to the operator" "$(cat "$T/said")" "tenant a: the tenant's ceiling does not load: ceiling.cordon:2:1"
printf 'use base/system\nread {work}\nlimit time 5m\n' | write "$base/ceiling.cordon"
put job 'use base/system
limit time 1h
' >"$T/body"
is "only what opens more is named" "$(jq -r '.detail + "; " + .hint' <"$T/body")" "the lines exceed the tenant's ceiling: + limit time 1h, was 5m: wider; limit time 5m"
put job 'use base/system
net example.org:443
' >"$T/body"
is "none is wider than the ceiling" "$(answered)" 403
has "the difference is named" "$(jq -r .detail <"$T/body")" "example.org"
put job 'use base/system

 reed {work}
' >"$T/body"
has "a misspelled line is named" "$(jq -r .detail <"$T/body")" "request:3:2:"
has "with the word that was meant" "$(jq -r .hint <"$T/body")" "read"
put job 'use base/system
limit tmie 1m
' >"$T/body"
has "as check names it" "$(jq -r .detail <"$T/body")" "request:2:"
put job 'read /etc
' >/dev/null
is "nor names a file of the host" "$(answered)" 403
for name in ../x .x x/y; do
        put "$name" "$first" --path-as-is >/dev/null
        case $(answered) in 4??) pass "no policy is called $name" ;; *) fail "no policy is called $name" "$(answered)" ;; esac
done
http PUT /v1/policies/job "$runner" --data-binary "$first" >"$T/body"
is "it needs a scope of its own" "$(answered)" 403
has "which is named" "$(jq -r .detail <"$T/body")" '`policy`'
has "with the whole command" "$(jq -r .hint <"$T/body")" "token new --scopes policy --tenant a"

# no policy of a tenant lifts a limit
for key in time cpu memory procs files disk output egress ingress effects rate; do
        printf 'use base/system\nread {work}\nlimit %s none\n' "$key" >"$T/lifted"
        put job "@$T/lifted" >"$T/body"
        is "a request does not lift $key" "$(answered)" 403
        write "$base/ceiling.cordon" <"$T/lifted"
        put job "$first" >"$T/body"
        is "nor does the ceiling" "$(answered)" 500
        has "which says so ($key)" "$(jq -r .detail <"$T/body")" "ceiling.cordon:3:7"
        write "$base/policies/lifted.cordon" <"$T/lifted"
        run "$a" '{"argv":["true"],"policy":"lifted"}' >/dev/null
        case $(answered) in 4?? | 5??) pass "nor a policy of the operator's ($key)" ;; *) fail "nor a policy of the operator's ($key)" "$(answered)" ;; esac
        rm -f "$base/policies/lifted.cordon"
        printf 'use base/system\nread {work}\nlimit time 5m\n' | write "$base/ceiling.cordon"
done

# versions
is "the first version" "$(put job "$first" | jq -c '[.version,.versions]') $(answered)" "[1,[1]] 201"
is "runs use it" "$(run "$a" '{"argv":["echo","ran"],"policy":"job"}' | jq -r .stdout)" ran
is "the second" "$(put job "$second" | jq -c '[.version,.versions]') $(answered)" "[2,[1,2]] 200"
hasnt "runs use that" "$(http GET /v1/policies/job "$a" | jq -r .doors)" "tenants/a/files"
is "back to the one before" "$(http POST /v1/policies/job/rollback "$a" | jq -c '[.version,.versions]')" "[1,[1,2]]"
is "to one that is named" "$(http POST /v1/policies/job/rollback "$a" -d '{"version":2}' | jq -c .version)" 2
http POST /v1/policies/job/rollback "$a" -d '{"version":9}' >/dev/null
is "one that is not kept" "$(answered)" 404
http POST /v1/policies/job/rollback "$a" -d '{"versoin":1}' >/dev/null
is "a misspelled member" "$(answered)" 422
http GET /v1/policies/job "$b" >/dev/null
is "another tenant has none of it" "$(answered)" 404
printf 'use base/system\nread {work}\nlimit time 2m\n' | write "$base/policies/job.cordon"
is "a text of the operator's is no version" "$(http GET /v1/policies/job "$a" | jq -c .version)" 0
is "and is kept before it is replaced" "$(put job "$first" | jq -c '[.version,.versions]')" "[4,[1,2,3,4]]"

# a share of the runs tries one
http PUT '/v1/policies/new?share=10' "$a" --data-binary "$first" >/dev/null
is "what is tried is a version of something" "$(answered)" 422
http PUT '/v1/policies/job?share=101' "$a" --data-binary "$first" >/dev/null
is "a share is a percentage" "$(answered)" 400
is "a version is tried" "$(http PUT '/v1/policies/job?share=100' "$a" --data-binary "$second" | jq -c '[.version,.canary]')" '[4,{"version":5,"share":100,"bound":1}]'
is "by runs that say so" "$(run "$a" '{"argv":["true"],"policy":"job"}' | jq -c .canary)" 5
http PUT /v1/files/x "$a" --data-binary seen >/dev/null
is "it starts where its own policy lets it" "$(run "$a" '{"argv":["pwd"],"policy":"job"}' | jq -c '[.canary,.status]')" '[5,0]'
run "$a" '{"argv":["cat","/nowhere"],"policy":"job"}' >/dev/null
is "after a bad one no run tries it" "$(run "$a" '{"argv":["cat","x"],"policy":"job"}' | jq -c '[.canary,.stdout]')" '[null,"seen"]'
has "the ledger says why" "$(http GET '/v1/ledger?kind=limit' "$a" | jq -r '.records[].door' | sort -u)" canary
is "it is shown as withdrawn, with the reason" "$(http GET /v1/policies/job "$a" | jq -c '[.canary,.withdrawn.version,(.withdrawn.why|length>0)]')" '[null,5,true]'
http POST /v1/policies/job/promote "$a" >"$T/body"
is "it is not promoted" "$(answered) $(jq -r .type <"$T/body")" "409 urn:cordon:error:withdrawn"
is "a rollback ends the trial" "$(http POST /v1/policies/job/rollback "$a" | jq -c '[.version,.canary]')" "[4,null]"
http POST /v1/policies/job/promote "$a" >/dev/null
is "then there is nothing to promote" "$(answered)" 422
http PUT '/v1/policies/job?share=50' "$a" --data-binary "$second# better
" >/dev/null
is "one that went well is used by all" "$(http POST /v1/policies/job/promote "$a" | jq -c '[.version,.canary]')" "[6,null]"
is "back is to what runs used, not to what was withdrawn" "$(http POST /v1/policies/job/rollback "$a" | jq -c .version)" 4
is "and to what a person wrote" "$(http POST /v1/policies/job/rollback "$a" | jq -c .version)" 3

# hints
put only 'use base/system
run echo
limit time 1m
' >/dev/null
has "a hint is a line, not an option" "$(run "$a" '{"argv":["cat"],"policy":"only"}' | jq -r .error.hint)" 'of `lines`: run '

# the ledger
for q in since=yesterday since=-1 since= last=x last=1.5 "since=99999999999999" "run=$(printf '%0100d' 1)" 'target=%zz' since lsat=1 'last=1&lats=2'; do
        http GET "/v1/ledger?$q" "$a" >/dev/null
        is "$q is malformed" "$(answered)" 400
done
id=$(run "$a" '{"argv":["true"],"policy":"job"}' | jq -r .id)
is "a run is found by the id that it was answered with" "$(http GET "/v1/ledger?run=$id" "$a" | jq -r '.records[0].kind')" start
http GET "/v1/ledger?run=r-nothing" "$a" >/dev/null
is "one that is not known" "$(answered)" 404
has "who reads the ledger is on record" "$(http GET '/v1/ledger?kind=view' "$a" | jq -r '.records[-1].more.who')" token:
http GET /v1/runs?sort=1 "$a" >"$T/body"
is "a parameter that is not known" "$(answered)" 400
has "is named" "$(jq -r .detail <"$T/body")" '`sort`'
is "since now there is nothing" "$(http GET "/v1/ledger?since=$(($(date +%s) + 60))" "$a" | jq -c .records)" "[]"

# images
if [ -x "$T/libexec/cordon-unpack" ] && python3 "$here/helpers/image.py" tool "$T/tool.tar"; then
        is "there is no image" "$(http GET /v1/images "$a" | jq -c .images)" "[]"
        http POST /v1/images "$a" -H 'Content-Type: application/octet-stream' --data-binary "@$T/tool.tar" >"$T/body"
        is "an archive is unpacked" "$(answered)" 201
        line=$(jq -r .line <"$T/body") id=$(jq -r .id <"$T/body")
        is "it is listed" "$(http GET /v1/images "$a" | jq -r '.images[].id')" "$id"
        hasnt "without a path of the host" "$(http GET /v1/images "$a")" "$C"
        is "another tenant has none" "$(http GET /v1/images "$b" | jq -c .images)" "[]"
        printf '%s\n' "$line" | write "$base/policies/image.cordon"
        # `root *` in a ceiling: any image of the tenant, and no other's
        cp "$base/ceiling.cordon" "$T/ceiling.kept" 2>/dev/null || : >"$T/ceiling.kept"
        printf 'root *\nlimit time 1m\n' | write "$base/ceiling.cordon"
        is "lines with an image of the tenant" "$(run "$a" "{\"argv\":[\"/bin/tool\",\"x\"],\"lines\":\"$line\nlimit time 5s\n\"}" | jq -c .status)" 0
        run "$a" "{\"argv\":[\"/bin/tool\",\"x\"],\"lines\":\"$line\nnet example.com:443\n\"}" >/dev/null
        is "and nothing else that is wider" "$(answered)" 403
        run "$a" "{\"argv\":[\"/bin/tool\"],\"lines\":\"root sha256:$(printf '%064d' 0)\"}" >"$T/body"
        case $(answered) in 200) is "an image that is not there starts nothing" "$(jq -r .end "$T/body")" not-started ;; *) pass "an image that is not there: $(answered)" ;; esac
        run "$a" '{"argv":["/bin/tool"],"lines":"root *"}' >/dev/null
        is "a request names one" "$(answered)" 403
        printf 'limit time 1m\n' | write "$base/ceiling.cordon"
        run "$a" "{\"argv\":[\"/bin/tool\",\"x\"],\"lines\":\"$line\"}" >/dev/null
        is "without that line: none" "$(answered)" 403
        write "$base/ceiling.cordon" <"$T/ceiling.kept"
        is "a policy has it as its root" "$(run "$a" '{"argv":["/bin/tool","x"],"policy":"image"}' | jq -c .status)" 0
        $who mkdir -p "$C/cordon/serve/tenants/b/policies"
        printf '%s\n' "$line" | write "$C/cordon/serve/tenants/b/policies/image.cordon"
        is "not that of another tenant" "$(run "$b" '{"argv":["/bin/tool","x"],"policy":"image"}' | jq -r .end)" not-started
        http POST /v1/images "$a" -H 'Content-Type: application/octet-stream' --data-binary 'no archive' >"$T/body"
        is "what is no archive is refused" "$(answered)" 422
        hasnt "without a path of the host" "$(cat "$T/body")" "$C"
        http PUT /v1/files/tool.tar "$a" --data-binary "@$T/tool.tar" >/dev/null
        is "one of its files" "$(http POST /v1/images "$a" -H 'Content-Type: application/json' -d '{"file":"tool.tar"}' | jq -r .id)" "$id"
        for f in ../tenant.json missing /etc/passwd; do
                http POST /v1/images "$a" -H 'Content-Type: application/json' -d "{\"file\":\"$f\"}" >/dev/null
                case $(answered) in 404 | 422) pass "not $f" ;; *) fail "not $f" "$(answered)" ;; esac
        done
        http DELETE "/v1/images/$id" "$b" >/dev/null
        is "another tenant does not remove it" "$(answered)" 404
        http DELETE /v1/images/tool "$a" >/dev/null
        is "an image is removed by its id" "$(answered)" 404
        http DELETE "/v1/images/$id" "$a" >/dev/null
        is "it is removed" "$(answered) $(http GET /v1/images "$a" | jq -c .images)" "200 []"
        is "nothing of an archive is left" "$($who ls "$base/uploads" | wc -l)" 0
else
        skip "images" "cordon-unpack is not built"
fi
done_testing
