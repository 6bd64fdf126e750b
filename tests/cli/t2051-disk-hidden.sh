#!/bin/sh
# Files of an edit door that were removed count against `limit disk` wherever they are held, also where no process shows them.
# alone: limits that bite in time.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cp "$here/helpers/hide.py" . && chmod 644 hide.py
root() { "$@"; }
run() { $who "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null; }
get() { jq -r "$1" <status 2>&1; }

for who in root as_user; do
        for way in flight nested unaccepted mapped; do
                rm -rf "$T/edited-$who" && mkdir -m 777 "$T/edited-$who"
                run --disk 20M --time 60s --files 64 --edit "$T/edited-$who" --read "$T/hide.py" -- python3 "$T/hide.py" $way "$T/edited-$who"
                is "$who: removed files count: $way ($(cat err))" "$(get .limit)$(cat out)" disk
        done
        # What is in flight, or mapped, is no file of the door.
        run --time 60s --edit "$T/edited-$who" -- python3 -c '
import array, mmap, os, socket, time
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
f = open("/tmp/f", "w+b")
f.write(b"x" * 10000000)
f.flush()
m = mmap.mmap(f.fileno(), 4096)
os.unlink("/tmp/f")
time.sleep(1)
print("went on")'
        is "$who: descriptors in flight alone are no reason" "$(get .limit)$(cat out)" "nullwent on"
done
done_testing
