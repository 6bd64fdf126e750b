# Answers with a form are checked in processes of cordon-output: one that dies or says nothing denies its answer, recorded
# answers are checked as well, and many at once do not mix.
. "$(dirname "$0")/lib-net.sh"
mkdir "$T/lab/git" "$T/broken" && cd "$T/lab/git" || exit 1
echo '{"id": 7}' >good
echo '{"id": 0}' >bad
printf 'see \033]52;c;aGk=\a and \342\200\256\n' >text
i=0
while [ $i -lt 40 ]; do echo "{\"id\": $((i + 1))}" >"n$i"; i=$((i + 1)); done
cd "$T" || exit 1
echo '{"properties":{"id":{"minimum":1}},"required":["id"]}' >"$T/s.schema"
cat >"$T/answers" <<'END'
{"method":"GET","url":"http://web.test/git/good","status":200,"headers":[["content-type","application/json"]],"body":"{\"id\": 7, \"x\": \"\\u202e\"}"}
{"method":"GET","url":"http://web.test/git/bad","status":200,"body":"{\"id\": 0}"}
{"method":"GET","url":"http://web.test/git/gone","status":302,"headers":[["location","/x"]],"body":"<html>"}
END
chmod 644 "$T/s.schema" "$T/answers"
# Services that are none: what they do with each check. Number 19 is WIRE_OUTPUT_LINE.
python=$(PATH=/usr/bin:/bin command -v python3) || { skip "checks that fail" "python3 is not in /usr/bin"; done_testing; }
fake() {
        cp "$CORDON_LIBEXEC"/* "$T/broken/"
        cat >"$T/broken/cordon-output" <<END
#!$python
import array, socket, struct, sys
line = socket.socket(fileno=0)
while True:
    ask = line.recv(4096)
    if not ask: break
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.sendmsg([struct.pack("<HHII", 19, 1, 4, struct.unpack("<I", ask[8:12])[0])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))])
    theirs.close()
    data = b""
    while True:
        part = ours.recv(65536)
        if not part: break
        data += part
    $1
    ours.close()
END
        chmod 755 "$T/broken/cordon-output" "$T/broken"
}
for who in root as_user; do
        get() { # TYPE PATH...
                type=$1
                shift
                box $who --net "http://web.test/** GET $type" -- sh -c 'for p; do curl -sS -m 20 -w "[%{http_code}]" http://web.test/$p; done' sh "$@"
        }
        codes() { grep -ao '\[[0-9]*\]' "$T/out" | tr -d '\n'; }
        # --- recorded answers ---
        box $who --net "http://web.test/** GET as json($T/s.schema)" --stage mock --answers "$T/answers" -- sh -c 'for p in good bad good gone; do curl -sS -m 20 -w "[%{http_code}]" http://web.test/git/$p; done; curl -sS -0 -m 20 http://web.test/git/good'
        is "$who: a recorded answer is checked like a new one" "$(codes) $(grep -ao '<U+202E>' "$T/out" | wc -l)" "[200][502][200][302] 3"
        # --- many at once ---
        box $who --net "http://web.test/** GET as json($T/s.schema)" -- sh -c 'i=0; while [ $i -lt 40 ]; do curl -sS -m 60 http://web.test/git/n$i >/tmp/o$i & i=$((i + 1)); done; wait; i=0; while [ $i -lt 40 ]; do cat /tmp/o$i; i=$((i + 1)); done'
        is "$who: many answers at once are each their own" "$(cat "$T/out")" "$(i=0; while [ $i -lt 40 ]; do echo "{\"id\": $((i + 1))}"; i=$((i + 1)); done)"
        # --- a check that fails ---
        good=$CORDON_LIBEXEC
        fake 'ours.send(b"d" + data); ours.send(b"v{\"ok\":true}")'
        CORDON_LIBEXEC=$T/broken get 'as text' git/text
        has "$who: (what a service that permits all would do)" "$(codes)" "[200]"
        fake 'pass'
        CORDON_LIBEXEC=$T/broken get 'as json' git/good
        is "$who: a check that dies denies the answer" "$(codes) $(grep -c 'was not finished' "$T/out") $(json '[.net.destinations[].reason | select(. != null and . != "")] | join(" ")')" "[502] 1 answer-form"
        fake 'ours.send(b"d" + data)'
        CORDON_LIBEXEC=$T/broken get 'as json' git/good
        hasnt "$who: bytes without a verdict are no answer" "$(cat "$T/err")" "[200]"
        ok "$who: and the program sees that it broke off" grep -q 'curl: (18)' "$T/err"
        fake 'ours.send(b"v{\"ok\":false}")'
        CORDON_LIBEXEC=$T/broken get 'as json' git/good
        is "$who: a verdict without a reason denies" "$(codes)" "[502]"
        fake 'ours.send(b"v[")'
        CORDON_LIBEXEC=$T/broken get 'as json' git/good
        is "$who: so does one that cannot be read" "$(codes)" "[502]"
        printf '#!/bin/sh\nexit 0\n' >"$T/broken/cordon-output"
        CORDON_LIBEXEC=$T/broken get 'as json' git/good
        is "$who: without a service no answer passes" "$(codes)" "[502]"
        CORDON_LIBEXEC=$good
done
done_testing
