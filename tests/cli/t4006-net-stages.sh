# Places and stages: one policy, and where it leads is said outside.
. "$(dirname "$0")/lib-net.sh"
cat >"$T/places" <<'END'
place api live http://web.test/
place api test http://four.test:8000/mirror/
place only live http://web.test/
END
printf '%s\n' 'place v1 live http://web.test/v1/' 'place v1 test http://four.test:8000/mirror/' >"$T/v1-places"
printf '%s\n' '{"method":"GET","url":"http://web.test/v1/x","status":200,"headers":[["Content-Type","text/plain"]],"body":"recorded\n"}' >"$T/answers"
chmod 644 "$T/places" "$T/v1-places" "$T/answers"
ask='curl -sS -m 10 http://web.test/v1/x; curl -sS -m 10 http://web.test/other'
for who in root as_user; do
        for option in places answers; do
                box $who --net '@api/v1/** GET' --$option "$T/nowhere" -- true
                is "$who: without the file of --$option nothing starts, and the hint is about such files" "$status $(grep -c -e 'place api live' -e '--record' "$T/err") $(grep -c 'policy stock' "$T/err")" "125 1 0"
        done
        box $who --net '@api/v1/** GET' --places "$T/places" -- sh -c "$ask"
        is "$who: live: the place is its live URL" "$(head -n 1 "$T/out")" "GET /v1/x 0"
        hasnt "$who: and no more of it than the door says" "$(cat "$T/out")" "GET /other"
        lab_anew
        box $who --net '@api/v1/** GET' --places "$T/places" --stage test -- sh -c "$ask"
        is "$who: test: the box asks for the same, and the test server is reached" "$(head -n 1 "$T/out")" "GET /mirror/v1/x 0"
        for old in old older; do
                for stage in live test; do
                        box $who --net '@api/v1/** GET' --places "$T/places" --stage $stage -- curl -sSL -m 10 -w '%{url_effective}\n' http://web.test/v1/$old
                        is "$who: $stage: a redirect ($old) stays in the place, and the program sees the URL it knows" "$(tail -n 1 "$T/out")" "http://web.test/v1/new?x=1"
                        has "$who: $stage: and is followed there" "$(cat "$T/out")" "/v1/new?x=1 0"
                done
        done
        : >"$T/lab/dns.log"
        box $who --net '@api/v1/** GET' --places "$T/places" --stage mock --answers "$T/answers" -- sh -c "$ask; curl -sS -m 10 http://web.test/v1/unknown"
        is "$who: mock: the recorded answer" "$(head -n 1 "$T/out")" recorded
        hasnt "$who: and nothing else" "$(cat "$T/out")" "GET /"
        is "$who: no name was even asked for outside" "$(lab_names)" ""
        lab_anew
        box $who --net web.test:80 --net 'http://web.test:8000/**' --stage mock -- sh -c 'curl -sS -m 5 http://web.test/raw; curl -sS -m 5 http://web.test:8000/v1/x'
        hasnt "$who: mock: a door that moves bytes reaches nothing" "$(cat "$T/out")" "GET /"
        is "$who: and says so" "$(row web.test:80 deny why)" "stage mock answers HTTP requests only"
        is "$who: no packet left" "$(lab_names)$(lab_packets)" ""
        box $who --net 'http://web.test/** GET' --places "$T/places" --stage test -- curl -sS -m 10 http://web.test/v1/x
        is "$who: a URL door goes where its place leads, at that port" "$(cat "$T/out")" "GET /mirror/v1/x 0"
        : >"$T/lab/dns.log"
        lab_anew
        for door in web.test:80 'http://web.test:8000/** GET' '*.web.test:80' 'http://web.test/other GET'; do
                box $who --net "$door" --places "$T/v1-places" --stage test -- curl -sS -m 5 http://web.test/other
                is "$who: test: a door that no place names stops the start: $door" "$status $(grep -c 'no place names .* in the stage test' "$T/err")" "125 1"
        done
        box $who --net 'http://web.test/** GET' --places "$T/v1-places" --stage test -- sh -c 'curl -sS -m 5 http://web.test/other; curl -sS -m 5 http://web.test/v1/x'
        is "$who: test: of a wider door only what a place names is reached" "$(grep '^GET' "$T/out")" "GET /mirror/x 0"
        has "$who: and the rest is refused with the reason" "$(cat "$T/out" "$T/err")" "URL belongs to no place in stage test"
        is "$who: the live server was not even asked for" "$(lab_names | grep -c web.test)" 0
        box $who --net four.test:8000 --places "$T/v1-places" --stage test -- curl -sS -m 5 http://four.test:8000/raw
        is "$who: test: a test server that a place leads to can be a raw door" "$(cat "$T/out")" "GET /raw 0"
        box $who --net '@only/** GET' --places "$T/places" --stage test -- curl -sS -m 5 http://web.test/x
        hasnt "$who: a place without a line for the stage leads nowhere" "$(cat "$T/out")" "GET /x"
        box $who --net '@api/** GET' -- true
        is "$who: without a places file a place stops the start" $status 125
        has "$who: with the next thing to type" "$(cat "$T/err")" "place api live https://host/"
        box $who --net '@api/** GET' --places "$T/places" --stage prod -- true
        is "$who: an unknown stage is refused" $status 125
done

# The test system sends a real letter: the flag is wrong, the mock is missing, a parameter takes another branch. One by one and all
# together, with everything that a program inside can set: not one packet leaves for the live host.
cat >"$T/send.sh" <<'END'
export STAGE=live CORDON_STAGE=live CORDON_PLACES=/dev/null CORDON_ANSWERS=/dev/null MOCK=0 NODE_ENV=production "$@"
host=web.test
[ "${TO:-}" = "" ] || host=$TO
curl -sS -m 5 -X "${HOW:-POST}" -d "to=somebody" "http://$host${AT:-/v1/send}"
END
printf '%s\n' '{"method":"POST","url":"http://web.test/v1/send","status":202,"headers":[],"body":"queued\n"}' >"$T/letters"
chmod 644 "$T/send.sh" "$T/letters"
lab_anew
: >"$T/lab/dns.log"
for fault in "A=1" "AT=/v1/send-now" "TO=four.test" "HOW=PUT" "AT=/v1/send?now=1" "TO=11.22.33.44" "AT=/v2 TO=four.test HOW=DELETE"; do
        for answers in "--answers $T/letters" ""; do
                # shellcheck disable=SC2086
                CORDON_STAGE=live STAGE=live box root --net '@api/** POST' --net 'http://four.test/**' --net web.test:8000 --places "$T/places" --stage mock $answers --read "$T/send.sh" -- bash "$T/send.sh" $fault
                want=0
                [ "$fault" != A=1 ] || [ -z "$answers" ] || want=1
                is "mock, $fault, ${answers:-no answers}: a recorded answer or none" "$(grep -c queued "$T/out") $(grep -c '^\(POST\|PUT\|DELETE\) /' "$T/out")" "$want 0"
        done
done
is "not one packet left, and no name was asked for" "$(lab_packets)$(lab_names)" ""
# A credential of a live account does not load where tests run.
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        export XDG_CONFIG_HOME="$T/config"
        mkdir -m 700 "$T/config"
        printf secret-of-a-live-account | "$CORDON" vault add letters >/dev/null 2>&1
        printf secret-of-a-test-account | "$CORDON" vault add letters-test --class test >/dev/null 2>&1
        box root --net '@api/** POST with letters' --places "$T/places" --stage test -- true
        is "a live credential in the stage test stops the start" "$status $(grep -c 'has class live and cannot be used in this stage' "$T/err")" "125 1"
        { echo use base/system; for i in $(seq 120); do echo "net https://host$i.test/a/path/that/takes/some/room/$i GET with letters"; done; } >"$T/many.policy"
        for stage in live mock; do
                box root -p "$T/many.policy" --stage $stage -- true
                is "$stage: a credential that too many doors name stops the start, and is told" "$status $(grep -c 'too many doors name the credential letters' "$T/err")" "125 1"
        done
        box root --net '@api/** POST with letters-test' --places "$T/places" --stage test -- curl -sS -m 5 -d x http://web.test/v1/send
        is "one of a test account does not" "$status $(cat "$T/out")" "0 POST /mirror/v1/send 1"
        : >"$T/lab/auth.log"
        box root --net '@api/** POST with letters' --places "$T/places" --stage live -- curl -sS -m 5 -d x http://web.test/v1/send
        is "in the stage live it does" "$(cat "$T/lab/auth.log")" "/v1/send Bearer secret-of-a-live-account"
else
        skip "classes of credentials" "cordon-vault is not built here: it needs OpenSSL"
fi
printf '%s\nnonsense\n' "$(cat "$T/answers")" >"$T/bad-answers"
has "an exchange that is none is told with the option and the line" "$("$CORDON" run --net 'http://web.test/** GET' --stage mock --answers "$T/bad-answers" -- true 2>&1)" "error: --answers:2: not a recorded exchange"
done_testing
