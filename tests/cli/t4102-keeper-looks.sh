# What the keeper looks at outside, because a box named it: looked at, and not opened.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
        skip "what a box named is not opened" "python3 is not installed"
        done_testing
fi
cat >"$T/try.py" <<'END'
import os, sys
print("BEGAN")
link = sys.argv[1] + "/program"
try:
    os.execv(link, [link])  # nothing is there yet: told as a program that was looked for
except OSError:
    os.symlink(sys.argv[2], link)
END
chmod 644 "$T/try.py"
for who in root as_user; do
        [ "$who" = as_user ] || who=
        name=${who:-root}
        mkdir -m 755 "$T/$name" "$T/$name/open" "$T/$name/closed" && mkfifo "$T/$name/closed/pipe"
        [ "$(id -u)" -ne 0 ] || [ "$name" = root ] || chown -R 65533:65533 "$T/$name"
        timeout 60 sh -c 'echo precious >"$1"' - "$T/$name/closed/pipe" &
        writer=$!
        $who "$CORDON" run -q --observe all --write "$T/$name/open" --read "$T/try.py" -- python3 "$T/try.py" "$T/$name/open" "$T/$name/closed/pipe" >"$T/out" 2>"$T/err"
        is "$name: a box leaves a link where it looked for a program" "$? $(cat "$T/out") $(readlink "$T/$name/open/program")" "0 BEGAN $T/$name/closed/pipe"
        is "$name: and nobody took from the pipe that it leads to" "$(timeout 10 cat "$T/$name/closed/pipe")" precious
        kill "$writer" 2>/dev/null
        wait "$writer" 2>/dev/null
done

# A mount that never answers: FUSE without a server. Who looks below it waits for ever, and with a keeper all its limits would.
cat >"$T/dead.py" <<'END'
import ctypes, os, sys, time
fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 0, options.encode()) < 0:
    sys.exit(1)
open(sys.argv[2], "w").close()
time.sleep(120)
END
mkdir "$T/dead"
dead=
if [ "$(id -u)" -eq 0 ] && [ -w /dev/fuse ]; then
        python3 "$T/dead.py" "$T/dead" "$T/mounted" &
        dead=$!
        for _ in $(seq 200); do
                [ -e "$T/mounted" ] || kill -0 $dead 2>/dev/null || break
                [ ! -e "$T/mounted" ] || break
                sleep 0.1
        done
fi
if [ -e "$T/mounted" ]; then
        ok "the mount does not answer" sh -c "! timeout -s KILL 1 stat '$T/dead/key'"
        ln -s "$T/dead/key" "$T/way" && ln -s dead "$T/via"
        for who in root as_user; do
                [ "$who" = as_user ] || who=
                name=${who:-root}
                for path in "$T/dead/key" "$T/dead" "$T/way" "$T/via/key"; do
                        # shellcheck disable=SC2086
                        $who timeout -s KILL 20 "$CORDON" run --observe all -- cat "$path" >/dev/null 2>"$T/err" </dev/null
                        is "$name: a box that names ${path#"$T"} there ends" $? 1
                done
        done
        has "what is below it is told, and was not looked at" "$(timeout -s KILL 20 "$CORDON" run -- cat "$T/dead/key" 2>&1 </dev/null)" "read $T/dead/key by cat"
        began=$(date +%s)
        timeout -s KILL 30 "$CORDON" run -q --time 1s -- sh -c "cat $T/dead/key; sleep 60" >/dev/null 2>&1 </dev/null
        is "and its limit of time is kept" "$? $(($(date +%s) - began < 15))" "124 1"
        ok "all of it while the mount was as it is" kill $dead
        wait $dead 2>/dev/null
        umount -l "$T/dead"
else
        [ -z "$dead" ] || kill $dead 2>/dev/null
        skip "a mount that never answers" "no FUSE can be mounted here"
fi
done_testing
