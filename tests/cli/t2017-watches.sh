#!/bin/sh
# A box watches (inotify) the files that it can change, and behind its read doors the changes of files: not who opens them, and
# nothing in a directory in which a name is hidden. Programs that wait for changes go on working.
# shellcheck disable=SC1091,SC2154,SC2317
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
print("relative", add("mine"), add("./."), add("out"), add("out", 0x2000000))
os.read(fd, 65536) if add("mine") != "watched" else None
open("mine", "w").write("changed")
print("heard", len(os.read(fd, 65536)) > 0)
print("bad", libc.inotify_add_watch(fd, None, 1), libc.inotify_add_watch(1, b"/tmp", 1), libc.inotify_add_watch(77, b"/tmp", 1))
END
cat >events.py <<'END'
# Prints the events of directories and files, until those of the name that is the last argument.
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
names = {1: "access", 2: "modify", 4: "attrib", 8: "close-write", 16: "close", 32: "open", 64: "moved-from", 128: "moved-to", 256: "create", 512: "delete", 2048: "moved"}
fd = libc.inotify_init1(0)
for path in sys.argv[1:-1]:
    libc.inotify_add_watch(fd, path.encode(), 0xfff)
print("ready", flush=True)
while True:
    got = os.read(fd, 65536)
    while got:
        wd, mask, cookie, n = struct.unpack("iIII", got[:16])
        name = got[16:16 + n].rstrip(bytes(1)).decode()
        got = got[16 + n:]
        print(name, names.get(mask & 0xfff, mask))
        if name == sys.argv[-1]:
            sys.exit()
END
for who in root as_user; do
        run() { $who "$CORDON" run -q --time 60s --ledger off "$@" 2>&1 </dev/null; }
        for observe in denials off; do
                run --observe $observe --read "$D/read" --edit "$D/edit" --write "$D/write" -- python3 "$D/read/watch.py" "$D/edit" "$D/edit/file" "$D/write" "$D/write/file" \
                        "$D/read" "$D/read/file" /usr/bin /usr/bin/env /dev/null /proc/self/status /etc / /nowhere >out
                is "$who, $observe: what it can change can be watched" "$(grep "^$D/[ew]" out | sed 's/.* //' | uniq -c | tr -s ' ')" " 8 watched"
                is "$who, $observe: what a door shows can" "$(grep -e "^$D/read" -e '^/usr' out | sed 's/.* //' | sort | uniq -c | tr -s ' ')" " 8 watched"
                is "$who, $observe: devices and processes cannot" "$(grep -e '^/dev' -e '^/proc' out | sed 's/.* //' | sort | uniq -c | tr -s ' ')" " 4 EACCES"
                is "$who, $observe: what does not exist is not found" "$(grep '^/nowhere' out | sed 's/.* //' | uniq)" ENOENT
                is "$who, $observe: relative paths and links" "$(grep ^relative out)" "relative watched watched watched EACCES"
                is "$who, $observe: events arrive" "$(grep ^heard out)" "heard True"
                is "$who, $observe: bad arguments fail" "$(grep ^bad out)" "bad -1 -1 -1"
        done
        is "$who: the process wall has no watches" "$(run --wall process -- python3 -c 'import ctypes, errno; l = ctypes.CDLL(None, use_errno=True); print(l.inotify_init1(0), errno.errorcode[ctypes.get_errno()])')" "-1 EPERM"

        # --- programs ---
        is "$who: tail -f sees what is added" "$(run -- sh -c 'echo a >/tmp/log; tail -f /tmp/log & sleep 0.3; echo b >>/tmp/log; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.2; done; kill $!' | tail -n 1)" b
        # The host changes what a read door shows while the box waits; the box says when it watches.
        rm -rf "$D/seen" out && mkdir "$D/seen" && echo 1 >"$D/seen/file"
        run --read "$D/seen" --read "$T/events.py" -- python3 "$T/events.py" "$D/seen" end >out &
        soon grep -q ready out
        cat "$D/seen/file" >/dev/null && echo 2 >>"$D/seen/file" && echo 3 >"$D/seen/new" && mv "$D/seen/new" "$D/seen/moved" && rm "$D/seen/moved" && echo >"$D/seen/end"
        wait $!
        is "$who: the host's changes are seen, not who looks" "$(grep -v ready out | tr '\n' ' ')" \
                "file modify file close-write new create new modify new close-write new moved-from moved moved-to moved delete end create "
        # The host puts another file in the place of one that is watched: the watch stays with the old one, as a descriptor does.
        rm -rf "$D/seen" "$D/away" out && mkdir "$D/seen" "$D/away" && echo 1 >"$D/seen/file" && mkdir "$D/seen/signal"
        run --read "$D/seen" --read "$T/events.py" -- python3 "$T/events.py" "$D/seen/file" "$D/seen/signal" end >out &
        soon grep -q ready out
        mv "$D/seen/file" "$D/away/file" && echo 2 >"$D/seen/file" && echo 3 >>"$D/seen/file" && echo >"$D/seen/signal/end"
        wait $!
        is "$who: what takes a watched file's place is not watched" "$(grep -v ready out | tr '\n' ' ')" " moved end create "
        if command -v node >/dev/null; then
                rm -f "$D/seen/made" out
                run --read "$D/seen" -- node -e '
const fs = require("fs");
const w = fs.watch(process.argv[1], (event, name) => { if (name == "made") { console.log("saw", name); w.close(); } });
console.log("ready");' "$D/seen" >out &
                soon grep -q ready out
                echo >"$D/seen/made"
                wait $!
                is "$who: fs.watch of node behind a read door" "$(tail -n 1 out)" "saw made"
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

# --- hidden names ---
mkdir -p "$D/project/src" && echo key >"$D/project/.env" && echo a >"$D/project/src/a"
printf 'use base/system\nread %s except %s/.env\nread %s\n' "$D/project" "$D/project" "$D/read" >policy
run() { "$CORDON" run -p policy --time 60s --ledger off "$@" </dev/null; }
is "a directory with a hidden name cannot be watched, what is below can" "$(run -q -- python3 "$D/read/watch.py" "$D/project" "$D/project/src" "$D/project/src/a" 2>&1 | grep "^$D" | sort -u | sed "s|$D||" | tr '\n' ' ')" \
        "/project EACCES /project/src watched /project/src/a watched "
is "a watch of who opens a file is refused" "$(run -q -- python3 -c 'import ctypes; l = ctypes.CDLL(None); fd = l.inotify_init1(0); print([l.inotify_add_watch(fd, b"/usr/bin", m) for m in (1, 16, 32, 0x31)])' 2>&1)" "[-1, -1, -1, -1]"
has "the refusal has a reason of its own" "$(run --json -- python3 "$D/read/watch.py" "$D/project" 2>&1)" '"reason":"watch"'
has "what an edit door does not show is said" "$("$CORDON" run --time 60s --ledger off --read "$D/read" --edit "$D/edit" -- python3 "$D/read/watch.py" "$D/edit" 2>&1 </dev/null)" "changes made outside are not seen"
hasnt "it is not said of other doors" "$("$CORDON" run --time 60s --ledger off --read "$D/read" --write "$D/write" -- python3 "$D/read/watch.py" "$D/write" "$D/read" 2>&1 </dev/null)" "not seen there"

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
        path.value = b"/proc/1/"
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
