#!/bin/sh
# A box watches (inotify) the files that it can change, and no others: a watch on a file that it shares shows who opens it.
# Programs that wait for changes of their own files go on working.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
elsewhere watches
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
root() { "$@"; }
mkdir "$D/read" "$D/edit" "$D/write" && chmod 777 "$D/edit" "$D/write"
echo 1 | tee "$D/read/file" "$D/edit/file" >"$D/write/file"
cat >"$D/read/watch.py" <<'END'
# Adds a watch on each path, from the first thread and from a second, and says which it got.
import ctypes, errno, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0o4000)
def add(path, flags=0):
    if libc.inotify_add_watch(fd, path.encode(), 0xfff | flags) >= 0:
        return "watched"
    return errno.errorcode[ctypes.get_errno()]
def all_of_them():
    for path in sys.argv[1:]:
        print(path, add(path))
all_of_them()
second = threading.Thread(target=all_of_them)
second.start()
second.join()
os.chdir("/tmp")
os.symlink("/usr/bin", "out")
open("mine", "w").close()
print("relative", add("mine"), add("./.."), add("out"), add("out", 0x2000000))
os.read(fd, 65536) if add("mine") != "watched" else None
open("mine", "w").write("changed")
print("heard", len(os.read(fd, 65536)) > 0)
print("bad", libc.inotify_add_watch(fd, None, 1), libc.inotify_add_watch(1, b"/tmp", 1), libc.inotify_add_watch(77, b"/tmp", 1))
END
for who in root as_user; do
        run() { $who "$CORDON" run -q --time 60s --ledger off "$@" 2>&1 </dev/null; }
        for observe in denials off; do
                run --observe $observe --read "$D/read" --edit "$D/edit" --write "$D/write" -- python3 "$D/read/watch.py" "$D/edit" "$D/edit/file" "$D/write" "$D/write/file" \
                        "$D/read" "$D/read/file" /usr/bin /usr/bin/env /dev/null /proc/self/status /etc / /nowhere >out
                is "$who, $observe: what it can change can be watched" "$(grep "^$D/[ew]" out | sed 's/.* //' | uniq -c | tr -s ' ')" " 8 watched"
                is "$who, $observe: what is shared cannot" "$(grep -e "^$D/read" -e '^/usr' -e '^/dev' -e '^/proc' -e '^/etc' -e '^/ ' out | sed 's/.* //' | sort | uniq -c | tr -s ' ')" " 16 EACCES"
                is "$who, $observe: what does not exist is not found" "$(grep '^/nowhere' out | sed 's/.* //' | uniq)" ENOENT
                is "$who, $observe: relative paths and links" "$(grep ^relative out)" "relative watched EACCES EACCES EACCES"
                is "$who, $observe: events arrive" "$(grep ^heard out)" "heard True"
                is "$who, $observe: bad arguments fail" "$(grep ^bad out)" "bad -1 -1 -1"
        done
        is "$who: the process wall has no watches" "$(run --wall process -- python3 -c 'import ctypes, errno; l = ctypes.CDLL(None, use_errno=True); print(l.inotify_init1(0), errno.errorcode[ctypes.get_errno()])')" "-1 EPERM"

        # --- programs ---
        is "$who: tail -f sees what is added" "$(run -- sh -c 'echo a >/tmp/log; tail -f /tmp/log & sleep 0.3; echo b >>/tmp/log; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.2; done; kill $!' | tail -n 1)" b
        is "$who: tail -f of a shared file goes on by looking" "$(run --read "$D/read" -- sh -c "timeout 2 tail -f $D/read/file 2>/tmp/err | head -n 1")" 1
        if command -v node >/dev/null; then
                for at in "$D/edit" "$D/write" /tmp; do
                        rm -f "$D/write/made"
                        is "$who: fs.watch of node in $at" "$(run --edit "$D/edit" --write "$D/write" -- node -e '
const fs = require("fs"), at = process.argv[1];
const w = fs.watch(at, (event, name) => { if (name == "made") { console.log("saw", name); w.close(); clearInterval(t); } });
const t = setInterval(() => fs.writeFileSync(at + "/made", "" + Math.random()), 100);' "$at")" "saw made"
                done
        else
                skip "$who: fs.watch of node" "node is not installed"
        fi
done

# --- an argument that another thread changes while it is judged: init looks once, and watches what it looked at ---
cat >race.py <<'END'
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0o4000)
os.makedirs("/tmp/aaaaaa/x")
path = ctypes.create_string_buffer(b"/tmp/aaaaaa/x")
stop = False
def flip():
    while not stop:
        path.value = b"/usr/bin"
        path.value = b"/tmp/aaaaaa/x"
threading.Thread(target=flip, daemon=True).start()
got = set()
for i in range(3000):
    got.add(libc.inotify_add_watch(fd, path, 0xfff))
stop = True
print(sorted(got - {-1}))
END
is "a path that flips never leads to a second watch" "$("$CORDON" run -q --time 60s --ledger off --read "$T/race.py" -- python3 "$T/race.py" 2>&1 </dev/null)" "[1]"
done_testing
