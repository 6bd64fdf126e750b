#!/bin/sh
# Trees that a team shares: setgid directories, files of another group, `git init --shared`. What the kernel lets nobody do
# without root is reported with the way around it.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
box() { $who env CORDON_LEDGER=off "$CORDON" run -q --wall namespace --cwd "$D/p" "$@" </dev/null 2>&1; }
bits() { stat -c %a "$1"; }
for who in root as_user; do
        D=$T/$who.team
        mkdir -p "$D" && fresh 'mkdir s && echo a >f'
        for door in write edit; do
                is "$who: $door: a directory gets its setgid bit, by whichever call" \
                        "$(box --$door "$D/p" -- python3 -c '
import os
os.mkdir("n"); os.chmod("n", 0o2775)
fd = os.open("n", os.O_RDONLY); os.fchmod(fd, 0o2770); print(oct(os.stat("n").st_mode))
os.chmod("n", 0o2775, dir_fd=os.open(".", os.O_RDONLY)); os.symlink("n", "l"); os.chmod("l", 0o2755)
os.mkdir("n/below"); print(oct(os.stat("n").st_mode), oct(os.stat("n/below").st_mode & 0o2000))
os.rmdir("n/below"); os.rmdir("n"); os.unlink("l")')" "0o42770
0o42755 0o2000"
                is "$who: $door: a file gets none, nor a setuid bit" "$(box --$door "$D/p" -- python3 -c '
import os
open("x", "w").close()
os.mkdir("y")
for name, mode in (("x", 0o2755), ("x", 0o4755), ("y", 0o6755), ("y", 0o4755), ("none", 0o2755)):
    try: os.chmod(name, mode); print("done")
    except OSError as e: print(e.strerror)
print(oct(os.stat("x").st_mode), oct(os.stat("y").st_mode)); os.unlink("x"); os.rmdir("y")')" "Operation not permitted
Operation not permitted
Operation not permitted
Operation not permitted
No such file or directory
0o100644 0o40755"
                is "$who: $door: nor one that a link becomes meanwhile" "$(box --$door "$D/p" -- python3 -c '
import os, threading
os.mkdir("d"); open("x", "w").close(); end = threading.Event()
def swap():
    while not end.is_set():
        for to in ("d", "x"):
            os.symlink(to, "t"); os.replace("t", "l")
os.symlink("d", "l"); t = threading.Thread(target=swap); t.start()
for i in range(500):
    try: os.chmod("l", 0o2755)
    except OSError: pass
end.set(); t.join(); print(oct(os.stat("x").st_mode)); os.unlink("x"); os.unlink("l"); os.rmdir("d")')" 0o100644
        done
        has "$who: in the host's own tree it is as it was asked for" "$(box --write "$D/p" -- chmod 2775 s; bits "$D/p/s")" 2775
        is "$who: a read door's stays" "$(box --read "$D/p" -- chmod 2755 s 2>&1 | grep -c 'Read-only'; bits "$D/p/s")" "1
2775"
        if command -v git >/dev/null; then
                is "$who: git init --shared" "$(box --edit "$D/p" -- sh -c 'git init -q --shared repo && stat -c %a repo/.git/objects')" 2775
        fi
done
[ "$(id -u)" -eq 0 ] || done_testing

# ---- a group that is not the primary one ----
GROUP=64999
team() { setpriv --reuid 65533 --regid 65533 --groups 65533,$GROUP env HOME=/nonexistent CORDON_STATE="$T/state-user" CORDON_LEDGER=off "$@"; }
change='echo more >>f && echo n >s/new && mkdir s/d && mv s s2 && stat -c %a s2/d'
tree_of() { rm -rf "$T/t" && mkdir -p "$T/t/s" && echo a >"$T/t/f" && chown -R "$1:$GROUP" "$T/t" && chmod 2775 "$T/t" "$T/t/s" && chmod 664 "$T/t/f"; }

for door in write edit; do
        tree_of 0
        is "root: $door: a tree of another group is changed" "$(CORDON_LEDGER=off "$CORDON" run -q --wall namespace --$door "$T/t" --cwd "$T/t" -- sh -c "$change" 2>&1)" 2755
done
tree_of 0
"$CORDON" run -q --wall namespace --edit "$T/t" --cwd "$T/t" --status-fd 3 -- sh -c "$change" 3>status >/dev/null 2>&1
"$CORDON" apply --include-flagged "$(jq -r .work.layer status)" >/dev/null 2>&1
is "root: and lands with that group" "$(cd "$T/t" && cat f && stat -c '%g %a' f s2 s2/d s2/new)" "a
more
$GROUP 664
$GROUP 2775
$GROUP 2755
$GROUP 644"
chown 65533 "$T/t/f"
has "root: another user's file there is not changed" "$("$CORDON" run -q --wall namespace --write "$T/t" --cwd "$T/t" -- sh -c 'echo x >>f' 2>&1)" "denied"

tree_of 65533
is "a user: write: a tree of a supplementary group is changed" "$(team "$CORDON" run -q --wall namespace --write "$T/t" --cwd "$T/t" -- sh -c "$change" 2>&1)" 2755
tree_of 65533
out=$(team "$CORDON" run --wall namespace --edit "$T/t" --cwd "$T/t" -- sh -c 'echo more >>f' 2>&1 </dev/null)
has "a user: edit: the start says so" "$out" "W138: $T/t belongs to 65533:$GROUP"
has "a user: edit: the refusal is named" "$out" "blocked: write $T/t/f by sh (group is not your primary group"
has "a user: edit: with the way around it" "$out" "hint: run it with group $GROUP as primary: sg GROUP -c 'cordon run ...'; or use a write door"
out=$(team "$CORDON" run --wall namespace --edit "$T/t" --cwd "$T/t" -- sh -c 'echo n >s/new' 2>&1 </dev/null)
has "a user: edit: also in a directory" "$out" "blocked: write $T/t/s/new by sh (group is not your primary group"
out=$(team "$CORDON" run --wall namespace --edit "$T/t" --cwd "$T/t" -- sh -c 'echo n >new && echo m >>new && cat new; false' 2>&1 </dev/null)
hasnt "a user: edit: what the box made can be changed, and is not reported" "$out" "blocked: write"
is "a user: edit: as the primary group it works" "$(setpriv --reuid 65533 --regid $GROUP --groups 65533,$GROUP env HOME=/nonexistent CORDON_STATE="$T/state-user" CORDON_LEDGER=off \
        "$CORDON" run -q --wall namespace --edit "$T/t" --cwd "$T/t" -- sh -c "$change" 2>&1)" 2755
done_testing
