#!/bin/sh
# Standard streams: bytes unchanged both ways, ends, order, slow and vanished readers.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
sleepy() { sleep "$1"; }
sum() { sha256sum | cut -d' ' -f1; }
head -c 10000000 /dev/urandom >big
chmod 644 big
want=$(sum <big)

for who in root as_user; do
        c="$who timeout 60 $CORDON run -q --output 64M"
        is "$who: 10 MB from a file pass in and out unchanged" "$($c -- cat <big | sum)" "$want"
        is "$who: 10 MB from a pipe pass in unchanged" "$(head -c 99999999 big | $c -- sha256sum | cut -d' ' -f1)" "$want"
        is "$who: 10 MB on standard error pass unchanged" "$($c -- sh -c 'cat >&2' 2>&1 >/dev/null <big | sum)" "$want"
        $c -- cat <big >copy
        ok "$who: 10 MB into a file are equal" cmp big copy
        $c -- sh -c 'cat >&2' <big 2>copy
        ok "$who: 10 MB of standard error into a file are equal" cmp big copy
        is "$who: every byte value passes" "$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "%c", i }' </dev/null | LC_ALL=C $c -- od -An -tu1 -v | tr -s ' \n' '  ')" \
                "$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "%c", i }' </dev/null | od -An -tu1 -v | tr -s ' \n' '  ')"
        is "$who: the end of input is seen" "$(printf abc | $c -- sh -c 'cat; echo end')" "abcend"
        is "$who: -n is empty input" "$(printf abc | $c -n -- sh -c 'cat; echo end')" end
        is "$who: /dev/null is empty input" "$($c -- sh -c 'cat; echo end' </dev/null)" end
        is "$who: closed input is empty input" "$($c -- sh -c 'cat; echo end' <&-)" end
        is "$who: standard output has its own stream" "$($c -- sh -c 'echo out; echo err >&2' 2>/dev/null </dev/null)" out
        is "$who: standard error has its own stream" "$($c -- sh -c 'echo out; echo err >&2' 2>&1 >/dev/null </dev/null)" err
        is "$who: closed standard error does not swallow output" "$($c -- sh -c 'echo out; echo err >&2' 2>&- </dev/null)" out
        $c -- sh -c 'exit 5' >&- 2>/dev/null </dev/null
        is "$who: closed standard output keeps the status" $? 5
        is "$who: /dev/stdin works" "$(echo abc | $c -- cat /dev/stdin)" abc
        is "$who: /dev/stdout works" "$($c -- sh -c 'echo abc >/dev/stdout' </dev/null)" abc
        is "$who: /dev/stderr works" "$($c -- sh -c 'echo abc >/dev/stderr' 2>&1 >/dev/null </dev/null)" abc
        is "$who: /dev/fd/0 works" "$(echo abc | $c -- cat /dev/fd/0)" abc
        is "$who: /proc/self/fd/1 works" "$($c -- sh -c 'echo abc >/proc/self/fd/1' </dev/null)" abc
        is "$who: lines of one stream keep their order" "$($c -- seq 1 5000 </dev/null | cksum)" "$(seq 1 5000 | cksum)"
        is "$who: lines of both streams into one keep their order" \
                "$($c -- sh -c 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done' 2>&1 </dev/null | tr '\n' ' ')" \
                "out 1 err 1 out 2 err 2 out 3 err 3 out 4 err 4 out 5 err 5 "

        # --- the caller's reader goes away ---
        began=$(date +%s)
        out=$($c --time 30s -- sh -c 'while :; do echo y; done' </dev/null 2>/dev/null | head -n 1)
        is "$who: a reader that goes away gets what it wanted" "$out" y
        ok "$who: and the payload ends by SIGPIPE, not by the time limit" test $(($(date +%s) - began)) -lt 25
        # --- input that nobody wanted is still the caller's ---
        printf 'first\nsecond\n' >lines
        chmod 644 lines
        is "$who: a start that fails has not eaten input" "$( (
                $who "$CORDON" run --read /no/such/door -- cat >/dev/null 2>&1
                cat
        ) <lines)" "$(cat lines)"
        is "$who: a start that fails has not eaten a pipe" "$(head -n 9 lines | (
                $who "$CORDON" run -- no-such-program >/dev/null 2>&1
                cat
        ))" "$(cat lines)"
        is "$who: -n has not eaten input" "$( (
                $c -n -- true
                cat
        ) <lines)" "$(cat lines)"
        # A command that reads no input leaves it to the next one; one that reads a part, the rest of the first page.
        loop() { while read -r l; do "$@" echo "$l"; done | tr '\n' ' '; }
        is "$who: a loop over a pipe goes through all lines" "$(seq 5 | loop $c --)" "1 2 3 4 5 "
        is "$who: a loop over a file, too" "$(seq 5 >five && loop $c -- <five)" "1 2 3 4 5 "
        is "$who: also behind the process wall" "$(seq 5 | loop $c --wall process --)" "1 2 3 4 5 "
        is "$who: what was read is taken" "$(seq 5 | ($c -- dd bs=1 count=4 status=none && cat) | tr '\n' ' ')" "1 2 3 4 5 "
        is "$who: all that was read is taken" "$(seq 5 | ($c -- cat && cat) | tr '\n' ' ')" "1 2 3 4 5 "
        is "$who: a payload that closes its input leaves it" "$(seq 3 | ($c -- sh -c 'exec <&-; sleep 0.1' && cat) | tr '\n' ' ')" "1 2 3 "
        # A payload can write into its own pipe, or change its size: what it read is recorded, nothing else is given back.
        is "$who: bytes that a payload puts back do not reach the caller" "$(seq 3 | ($c -- sh -c 'cat <&0 >/dev/null & echo forged >/proc/self/fd/0; wait' && cat) | grep -c forged)" 0
        is "$who: nor more than there was" "$(seq 3 >five && ($c -- sh -c 'head -c 99999 /dev/zero >/proc/self/fd/0 & sleep 0.1' && cat) <five | tr '\n' ' ')" "1 2 3 "
        # --- a slow reader does not hold up the limits ---
        rm -f ended left
        began=$(date +%s%N)
        ($c --time 1s --status-fd 3 -- sh -c 'while :; do echo 0123456789012345678901234567890123456789; done' 3>slow </dev/null; date +%s%N >ended) | { soon test -s ended; date +%s%N >left; }
        took=$((($(cat ended) - began) / 1000000))
        ok "$who: the time limit fires though nobody reads ($took ms)" test $took -ge 950 -a "$(cat ended)" -lt "$(cat left)"
        is "$who: and is named" "$(jq -r .limit <slow)" time
        is "$who: a payload that does not read its input can end" "$(yes | head -c 3000000 | $c --time 5s -- sh -c 'echo fine')" fine
        # --- a background child that holds the pipes does not hold up the end ---
        began=$(date +%s)
        $c --time 30s -- sh -c 'sleep 25 & exit 0' </dev/null >/dev/null
        ok "$who: a background child does not hold up the end" test $(($(date +%s) - began)) -lt 20
        out=$($c -- sh -c 'sleep 100 & echo said; exit 3' </dev/null; echo $?)
        is "$who: what was said before is complete" "$out" "said
3"
done
# Nonblocking mode of the caller's descriptors is the caller's.
mkfifo fifo
sleepy 1 <fifo &
exec 7>fifo
"$CORDON" run -q -- echo x >&7 </dev/null
is "the caller's pipe has not been made nonblocking" "$(sed -n 's/^flags:.*\(.\)...$/\1/p' "/proc/self/fdinfo/7")" 0
exec 7>&-
wait
"$CORDON" run -q -- echo x >/dev/full 2>err </dev/null
is "output that cannot be written ends the run with 125 or the payload's SIGPIPE" "$(case $? in 125 | 141) echo told ;; *) echo lost ;; esac)" told
# A payload cannot hear that its input could not be read: what it made of the part it got is no success.
is "input that cannot be read is not the end of it" "$("$CORDON" run -q -- cat 2>&1 <"$T"; echo $?)" "cordon: error: the input could not be read: $(cat 2>&1 <"$T" | sed 's/.*: //')
125"
is "a command that failed keeps its own status" "$("$CORDON" run -q -- sh -c 'cat; exit 3' 2>/dev/null <"$T"; echo $?)" 3
is "a descriptor that is not for reading is no input" "$("$CORDON" run -q -- cat 2>&1 0>written; echo $?)" 0
# Also what lies in wait for a reader that takes nothing, and then goes with a reset.
is "an error of output that waited is told" "$(python3 -c '
import socket, struct, subprocess, sys, time
server = socket.create_server(("127.0.0.1", 0))
out = socket.create_connection(server.getsockname())
reader, _ = server.accept()
box = subprocess.Popen(sys.argv[1:], stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
out.close()
reader.recv(1, socket.MSG_PEEK)
time.sleep(2)
reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
reader.close()
print(box.wait())' "$CORDON" run -q --output 64M --time 20s -- head -c 30000000 /dev/zero)" 125
# --- who keeps a copy of a box's output outside does not hold up its end ---
cat >hand-out.py <<'PY'
import array, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
print("handed out " + "x" * 3000 + " all", flush=True)
PY
python3 -c '
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1] + ".new")
os.chmod(sys.argv[1] + ".new", 0o777)
s.listen(8)
os.rename(sys.argv[1] + ".new", sys.argv[1]) # who finds it can connect
time.sleep(60)' "$T/keeps" &
keeps=$!
soon test -S keeps
began=$(date +%s)
got=$("$CORDON" run -q --sock "$T/keeps" --read "$T/hand-out.py" -- python3 "$T/hand-out.py" "$T/keeps" 2>&1 </dev/null)
is "a copy that a box handed out: all of its output arrives" "${#got}:${got##* }" 3015:all
got=$(terminal "$CORDON" run -q -t --sock "$T/keeps" --read "$T/hand-out.py" -- python3 "$T/hand-out.py" "$T/keeps")
has "of its terminal, too" "$got" "xxx all"
ok "neither holds up the end" test $(($(date +%s) - began)) -lt 15
kill $keeps
wait $keeps 2>/dev/null
done_testing
