#!/bin/sh
# Sockets of the host behind directory doors: every way to them that is known, and races of fifty thousand tries in each box between a
# look at an address, a name or a descriptor and its use. The host's server says whether it was reached.
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
compile unix_attack

root() { "$@"; }
for who in root as_user; do
        for door in read edit write; do
                D=$T/$who-$door
                mkdir -p "$D/door" && chmod -R 755 "$D"
                [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"
                $who "$T/unix_attack" serve "$D/door" >"$T/up" &
                soon test -s "$T/up"
                $who "$CORDON" run -q --time 10m --$door "$D/door" --read "$T/unix_attack" --run any -- "$T/unix_attack" attack "$D/door" >seen 2>&1 </dev/null
                is "$who: behind a $door door nothing is reached" "$(grep -v '^ok ' seen)" end
                ok "$who: behind a $door door all was tried" test "$(grep -c '^ok ' seen)" -ge 25
                ok "$who: the host's server was not reached" test ! -e "$D/hits"
                # The test has teeth: through a door it is.
                $who "$CORDON" run -q --read "$D/door" --sock "$D/door/stream" -- python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$D/door/stream" </dev/null >/dev/null 2>&1
                ok "$who: but through a sock door it is" soon test -e "$D/hits"
                kill "$(cat "$T/up")"
                wait
        done
done
done_testing
