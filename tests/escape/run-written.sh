#!/bin/sh
# What a strict box wrote does not run: memory files and `out` handles, which the loader would map, as a library and as a program.
# And what a command's text names opens no keys, and no socket of the host below /usr is reached.
# shellcheck disable=SC2016
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
root() { "$@"; }
if ! command -v python3 >/dev/null || ! command -v cc >/dev/null; then
        skip "written code" "python3 and a compiler are not installed"
        done_testing
fi
cat >lib.c <<'END'
#include <unistd.h>
__attribute__((constructor)) static void f(void) { if (write(1, "RAN\n", 4) < 0) _exit(1); }
END
cc -shared -fPIC -o lib.so lib.c && chmod 755 lib.so
cat >try.py <<'END'
import os, sys
fd = int(os.environ["CORDON_OUT_X"].rsplit("/", 1)[1]) if "CORDON_OUT_X" in os.environ else os.memfd_create("x", 8 if sys.argv[2] == "sealed" else 0)
os.write(fd, open(sys.argv[1], "rb").read())
os.set_inheritable(fd, True)
print("BEGAN", flush=True)
os.execve("/usr/bin/python3", ["python3", "-c", "pass"], {"LD_PRELOAD": "/proc/self/fd/%d" % fd})
END
chmod 644 try.py
for who in root as_user; do
        for strict in "--use base/strict" "--run /usr/bin/python3" "--use base/strict --root"; do
                for how in plain sealed; do
                        # shellcheck disable=SC2086
                        hasnt "$who, $strict: a memory file ($how) is not loaded" "$($who "$CORDON" run -q $strict --read "$T/try.py" --read "$T/lib.so" -- /usr/bin/python3 "$T/try.py" "$T/lib.so" $how 2>&1)" RAN
                done
                rm -f made/out && mkdir -p made && chmod 777 made && $who sh -c ': >made/out'
                # shellcheck disable=SC2086
                said=$($who "$CORDON" run -q $strict --out x --handle x="$T/made/out" --read "$T/try.py" --read "$T/lib.so" -- /usr/bin/python3 "$T/try.py" "$T/lib.so" out 2>&1)
                has "$who, $strict: a handle is written" "$said" BEGAN
                hasnt "$who, $strict: and not loaded" "$said" RAN
                ok "$who, $strict: but it comes out whole" cmp made/out lib.so
        done
        has "$who: where what is written runs, both are loaded" "$($who "$CORDON" run -q --read "$T/try.py" --read "$T/lib.so" -- /usr/bin/python3 "$T/try.py" "$T/lib.so" plain 2>&1)" RAN
done

# ---- a command's text ----
mkdir -p home/tool/bin home/tool/lib home/tool/.ssh && echo KEY >home/tool/.ssh/id_ed25519 && printf '#!/bin/sh\necho TOOL\n' >home/tool/bin/zztool && chmod -R a+rX home && chmod 755 home/tool/bin/zztool
named() { PATH=$T/home/tool/bin:$PATH "$CORDON" run -q "$@" 2>&1; }
has "a program of the PATH that a text names runs" "$(named -- sh -c "zztool")" TOOL
hasnt "keys beside it are not shown" "$(named -- sh -c "zztool; cat $T/home/tool/.ssh/id_ed25519")" KEY
hasnt "nothing is shown for a name in a comment" "$(named -- sh -c "true # ;zztool
ls $T/home/tool/bin")" zztool
hasnt "nor behind an escape" "$(named -- sh -c "echo a\\;zztool; $T/home/tool/bin/zztool")" TOOL
hasnt "nor where only named programs run" "$(named --use base/strict -- sh -c "zztool; ls $T/home/tool/bin")" TOOL

# ---- a socket of the host below /usr, in mounts of the test's own ----
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
        mkdir -p fake/var/run
        cat >serve.sh <<'END'
mount --bind "$1" /usr/local || exit 77
python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("/usr/local/var/run/s"); s.listen(); s.settimeout(20)
try: s.accept(); print("REACHED")
except OSError: pass' &
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S /usr/local/var/run/s ] && break; sleep 0.2; done
chmod 777 /usr/local/var/run/s
"$CORDON" run -q -- python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/usr/local/var/run/s"); print("CONNECTED")' 2>&1
kill $!
END
        said=$(unshare -m sh serve.sh "$T/fake" 2>&1)
        has "a socket of the host below /usr/local/var is refused" "$said" "Permission denied"
        hasnt "and not reached" "$said" REACHED
else
        skip "a socket of the host below /usr/local/var is refused" "needs root to mount"
fi
done_testing
