# Places and stages: one policy, and where it leads is said outside.
. "$(dirname "$0")/lib-net.sh"
cat >"$T/places" <<'END'
place api live http://web.test/
place api test http://four.test:8000/mirror/
place only live http://web.test/
END
printf '%s\n' '{"method":"GET","url":"http://web.test/v1/x","status":200,"headers":[["Content-Type","text/plain"]],"body":"recorded\n"}' >"$T/answers"
chmod 644 "$T/places" "$T/answers"
ask='curl -sS -m 10 http://web.test/v1/x; curl -sS -m 10 http://web.test/other'
for who in root as_user; do
        box $who --net '@api/v1/** GET' --places "$T/places" -- sh -c "$ask"
        is "$who: live: the place is its live URL" "$(head -n 1 "$T/out")" "GET /v1/x 0"
        hasnt "$who: and no more of it than the door says" "$(cat "$T/out")" "GET /other"
        : >"$T/lab/packets"
        box $who --net '@api/v1/** GET' --places "$T/places" --stage test -- sh -c "$ask"
        is "$who: test: the box asks for the same, and the test server is reached" "$(head -n 1 "$T/out")" "GET /mirror/v1/x 0"
        : >"$T/lab/dns.log"
        box $who --net '@api/v1/** GET' --places "$T/places" --stage mock --answers "$T/answers" -- sh -c "$ask; curl -sS -m 10 http://web.test/v1/unknown"
        is "$who: mock: the recorded answer" "$(head -n 1 "$T/out")" recorded
        hasnt "$who: and nothing else" "$(cat "$T/out")" "GET /"
        is "$who: no name was even asked for outside" "$(lab_names)" ""
        : >"$T/lab/packets"
        box $who --net web.test:80 --net 'http://web.test:8000/**' --stage mock -- sh -c 'curl -sS -m 5 http://web.test/raw; curl -sS -m 5 http://web.test:8000/v1/x'
        hasnt "$who: mock: a door that moves bytes reaches nothing" "$(cat "$T/out")" "GET /"
        is "$who: and says so" "$(row web.test:80 deny why)" "the stage is mock: only requests have recorded answers"
        is "$who: no packet left" "$(lab_names)$(lab_packets)" ""
        box $who --net 'http://web.test/** GET' --places "$T/places" --stage test -- curl -sS -m 10 http://web.test/v1/x
        is "$who: a URL door goes where its place leads, at that port" "$(cat "$T/out")" "GET /mirror/v1/x 0"
        box $who --net '@only/** GET' --places "$T/places" --stage test -- curl -sS -m 5 http://web.test/x
        hasnt "$who: a place without a line for the stage leads nowhere" "$(cat "$T/out")" "GET /x"
        box $who --net '@api/** GET' -- true
        is "$who: without a places file a place stops the start" $status 125
        has "$who: with the next thing to type" "$(cat "$T/err")" "place api live https://host/"
        box $who --net '@api/** GET' --places "$T/places" --stage prod -- true
        is "$who: an unknown stage is refused" $status 125
done
done_testing
