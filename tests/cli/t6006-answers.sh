# Answers through a door with `as TYPE`: a body that is not what the door says does not reach the box, text comes inert.
. "$(dirname "$0")/lib-net.sh"
mkdir "$T/lab/git" && cd "$T/lab/git" || exit 1
printf 'red \033[31m \033]52;c;aGk=\a \342\200\256 https://evil.test/x http://web.test/ok AKIAIOSFODNN7EXAMPLE\nend\n' >text
echo '{"id": 7, "state": "paid"}' >good
echo '{"id": 0, "state": "paid"}' >bad
printf '{"id": 7, "state": "p\\u202eaid", "x": "\\u001b]0;t"}' >hidden
printf '<html>no json</html>' >page
python3 -c "print('[' * 200000)" >deep
python3 -c "print('[' + '1,' * 3000000 + '1]')" >large
cd "$T" || exit 1
echo '{"type":"object","properties":{"id":{"type":"integer","minimum":1}},"required":["id"]}' >"$T/s.schema"
chmod 644 "$T/s.schema"
for who in root as_user; do
        get() { # TYPE PATH...
                type=$1
                shift
                box $who --net "http://web.test/** GET $type" -- sh -c 'for p; do curl -sS -m 20 -w "[%{http_code}]" http://web.test/$p; done' sh "$@"
        }
        get 'as text' git/text
        is "$who: text comes inert" "$(cat "$T/out")" "red <ESC[31m> <ESC]52> <U+202E> https[:]//evil.test/x http://web.test/ok <secret:aws-access-key>
end
[200]"
        get "as json($T/s.schema)" git/good git/bad git/page git/good
        is "$who: JSON that fits passes, what does not is a 502, and the next answer is not harmed" "$(grep -o '\[[0-9]*\]' "$T/out" | tr -d '\n') $(grep -c '"state": "paid"}' "$T/out")" "[200][502][502][200] 2"
        has "$who: the 502 has the place" "$(cat "$T/out")" '/id does not fit `minimum`'
        has "$who: with its reason" "$(json '[.net.destinations[].reason] | join(" ")')" "answer-form"
        get 'as json' git/hidden
        is "$who: an escape in JSON hides nothing" "$(cat "$T/out")" '{"id": 7, "state": "p<U+202E>aid", "x": "<U+001B>]0;t"}[200]'
        get 'as json' git/deep git/good
        is "$who: a bomb of depth is refused, and nobody is harmed" "$(grep -c '"id": 7' "$T/out") $(grep -o '\[502\]' "$T/out" | wc -l)" "1 1"
        get 'as json max 1M' git/large git/good
        is "$who: one of size too" "$(grep -c '"id": 7' "$T/out") $(grep -o '\[502\]' "$T/out" | wc -l)" "1 1"
        get 'as png' git/page
        has "$who: another type" "$(cat "$T/out")" "[502]"
        get 'as json' a/old
        is "$who: a redirect passes, without its body" "$(cat "$T/out")" "[302]"
        get 'as text' packed/gzip/whole
        hasnt "$who: a compressed answer is read" "$(cat "$T/out")" "[502]"
        get 'as json max 1M' packed/gzip/bomb git/good
        is "$who: a gzip bomb ends at the limit" "$(grep -c '"id": 7' "$T/out") $(grep -o '\[502\]' "$T/out" | wc -l)" "1 1"
done
is "not in a raw connection" "$("$CORDON" check --net 'web.test:80 as text' 2>&1 | grep -c 'raw connection')" 1
is "nor in a WebSocket" "$("$CORDON" check --net 'http://web.test/** WEBSOCKET as text' 2>&1 | grep -c 'WebSocket')" 1
is "max alone means nothing" "$("$CORDON" check --net 'http://web.test/** max 1M' 2>&1 | grep -c 'needs `as TYPE`')" 1
is "a schema must be there" "$("$CORDON" run --net 'http://web.test/** as json(/nowhere)' -- true 2>&1 | grep -c 'cannot be read')" 1
printf 'use none\nnet http://web.test/** GET as json(%s/s.schema) max 2M\n' "$T" >p
is "a policy keeps it" "$("$CORDON" policy show --json p | jq -c '.doors[] | [.as, .max]')" "[\"json($T/s.schema)\",\"2M\"]"
has "and shows it" "$("$CORDON" policy show p)" "as \"json($T/s.schema)\" max 2M"
printf 'use none\nnet http://web.test/** GET\n' >q
has "it narrows a door" "$("$CORDON" policy diff q p; :)" "narrower"
done_testing
