#!/bin/sh
# Where the resident's socket is: no box sees the directory, no door leads to the socket, and what answers there from a confined process
# gets no run.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "the resident's place" "no namespace wall here"
        done_testing
fi
who=root
root() { "$@"; }
elsewhere place
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$T" "$D"; exit $code' EXIT
box() { $who env XDG_RUNTIME_DIR="$rt" timeout -k 5 60 "$CORDON" run -q --pool off --wall namespace "$@" </dev/null; }

# ---- the directory, before there was a resident and after ----
for when in before after; do
        rt=$D/rt.$when
        mkdir -m 700 "$rt"
        [ "$when" = before ] || { serve && run serve pool add --size 1 >/dev/null; }
        for door in "$rt" "$D"; do
                never "$when: nothing of it is shown by a door to $door" "$(box --write "$door" -- sh -c 'echo BEGAN; ls -A "$0"' "$rt/cordon" 2>&1)" serve
                never "$when: and nothing is made there" "$(box --write "$door" -- sh -c 'echo BEGAN; mkdir -p "$0"; echo x >"$0/serve.sock" && echo MADE' "$rt/cordon" 2>&1)" MADE
                never "$when: it cannot be moved away" "$(box --write "$door" -- sh -c 'echo BEGAN; mv "$0/cordon" "$0/old" && echo MOVED' "$rt" 2>&1)" MOVED
                [ "$door" = "$rt" ] || never "$when: nor what is above it" "$(box --write "$door" -- sh -c 'echo BEGAN; mv "$0" "$0.old" && echo MOVED' "$rt" 2>&1)" MOVED
        done
        is "$when: nothing was planted" "$(find "$rt/cordon" -name serve.sock -type f)" ""
        is "$when: no door leads into it" "$(status box --write "$rt/cordon" -- true)" 125
done

if run selftest breakout --list >"$T/list" 2>/dev/null; then
        run selftest breakout --write "$D" >"$T/out" 2>&1
        is "breakout tries both ways" "$(grep -E 'where cordon serve listens|no keeper of another box' "$T/out" | awk '{ print $1 }' | sort | uniq -c | tr -s ' ')" " 2 held"
else
        skip "breakout tries both ways" "cordon-selftest is not installed"
fi

# ---- the socket as a door ----
is "not as a socket" "$(status box --sock "$rt/cordon/serve.sock" -- true)" 125
has "which is said" "$(cat "$T/err")" "the socket of cordon serve"
ln -s "$rt/cordon/serve.sock" "$D/link"
is "not by a symlink" "$(status box --sock "$D/link" -- true)" 125
if ln "$rt/cordon/serve.sock" "$D/second" 2>/dev/null; then
        is "not by a second name" "$(status box --sock "$D/second" -- true)" 125
        has "which is said, too" "$(cat "$T/err")" "the socket of cordon serve"
        rm "$D/second"
fi
(
        unset XDG_RUNTIME_DIR
        export CORDON_STATE="$D/state"
        exec "$CORDON" serve
) >/dev/null 2>&1 </dev/null &
pids="$pids $!"
there() { [ -S "$D/state/run/serve.sock" ]; }
ok "a resident without a runtime directory" soon there
is "not that of the state directory" "$(env -u XDG_RUNTIME_DIR CORDON_STATE="$D/state" timeout 60 "$CORDON" run --sock "$D/state/run/serve.sock" -- true >/dev/null 2>&1 </dev/null; echo $?)" 125

# ---- what answers from a confined process ----
rt=$D/rt.false
mkdir -m 700 "$rt" "$rt/cordon"
cat >"$T/false.py" <<'P'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + ".new")
s.listen(8)
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    c, _ = s.accept()
    c.settimeout(5)
    try:
        while True:
            data = c.recv(1 << 20)
            if not data:
                break
            word = int.from_bytes(data[4:8], "little")
            print(word, flush=True)
    except OSError:
        pass
    c.close()
P
false_resident() { # COMMAND...: it, confined by the command
        rm -f "$rt/cordon/serve.sock" "$T/heard"
        "$@" python3 "$T/false.py" "$rt/cordon/serve.sock" >"$T/heard" 2>/dev/null </dev/null &
        false=$!
        pids="$pids $false"
        answers() { [ -S "$rt/cordon/serve.sock" ]; }
        soon answers
}
for way in "unshare -Urfp --kill-child" "setpriv --no-new-privs" "unshare -Un" "setpriv --bounding-set=-wake_alarm"; do
        # shellcheck disable=SC2086
        $way true 2>/dev/null || continue
        # shellcheck disable=SC2086
        false_resident $way
        has "$way: it is not asked" "$(how -- true)" "cold this process is confined otherwise than cordon serve: "
        is "$way: and no run is taken to it" "$(status run run --pool require -- true)" 125
        is "$way: nor a recipe" "$(status run serve pool add)" 125
        hasnt "$way: it hears a greeting at most" "$(sort -u "$T/heard" | tr '\n' ' ')" "1 "
        kill -9 "$false" 2>/dev/null
        wait "$false" 2>/dev/null
done
done_testing
