#!/bin/sh
# A directory as the box's root: `--image DIR` and `root DIR`. The tree is hostile, and stays as it is.
. "$(dirname "$0")/lib.sh"
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "an image" "no static busybox (package busybox-static)"
        done_testing
}
elsewhere image
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
make_tree() { # DIR: a small root
        mkdir -p "$1/bin" "$1/etc" "$1/usr/lib" "$1/root"
        cp "$busybox" "$1/bin/busybox"
        for p in sh cat ls touch id env mkdir ln rm grep cp chmod readlink sort wc; do ln -s busybox "$1/bin/$p"; done
        echo root:x:0:0:root:/root:/bin/sh >"$1/etc/passwd"
        echo of-the-image >"$1/etc/os-release"
        echo readable >"$1/root/file"
        chmod 700 "$1/root"
        printf '#!/bin/sh\necho started\n' >"$1/entry"
        chmod 755 "$1/entry"
}
sums() { (cd "$1" && find . -printf '%p %y %m %l %s\n' | sort; find . -type f -exec cksum {} + | sort) | cksum; }
r=$D/root
make_tree "$r"
before=$(sums "$r")

box() { "$CORDON" run -q --image "$r" "$@" 2>&1; }
is "the box sees the image's files" "$(box -- cat /etc/os-release)" of-the-image
is "and those of its owner alone" "$(box -- cat /root/file)" readable
has "not the host's" "$(box -- ls /usr)" lib
hasnt "nor programs of the host" "$(box -- ls /usr)" share
is "a shell is sh where the image has no bash" "$(echo 'cat /etc/os-release' | "$CORDON" shell -q --image "$r" 2>&1)" of-the-image
is "a program at the top starts" "$(box -- /entry)" started
is "the box has an account" "$(box -- sh -c 'grep -c . /etc/passwd; id -un' | tr '\n' ' ')" "2 box "
is "what it writes is in the overlay" "$(box -- sh -c 'echo x >/usr/lib/new && cat /usr/lib/new && rm /etc/os-release && ls /etc' | tr '\n' ' ' | cut -c1-2)" "x "
is "the caller's zone and language are not the image's" "$(TZ=Asia/Tokyo LC_ALL=C box -- env | grep -c -e TZ= -e LC_ALL=)" 0
is "and runs, as with run any" "$(box -- sh -c 'cp /bin/busybox /usr/echo && /usr/echo ran')" ran
is "the image is as it was" "$(sums "$r")" "$before"
has "nothing is made at /" "$(box -- sh -c 'touch /new; echo BEGAN')" "Read-only"
has "the private files have one size" "$(box --disk 1M -- sh -c 'cat /bin/busybox >/usr/big; echo end')" "No space left"
is "no device of the image" "$(box -- sh -c 'ls /dev | wc -l; ls /proc/self >/dev/null && echo proc' | tail -1)" proc

mkdir "$D/door"
echo of-the-host >"$D/door/f"
is "a door is mounted into it" "$(box --read "$D/door" -- cat "$D/door/f")" of-the-host
has "read-only" "$(box --read "$D/door" -- sh -c "echo x >$D/door/f; echo BEGAN")" "Read-only"
ok "a write door is written" sh -c "\"\$CORDON\" run -q --image $r --write $D/door -- sh -c 'echo by-the-box >$D/door/g' && grep -q by-the-box $D/door/g"
mkdir "$r/etc/shown"
ok "a mount point in the image is used" sh -c "\"\$CORDON\" run -q --image $r --read $D/door -- ls $D/door"

printf 'root %s\nuse base/strict\n' "$r" >"$D/strict.cordon"
is "base/strict: the image's programs run" "$("$CORDON" run -q -p "$D/strict.cordon" -- sh -c 'echo $((6*7))' 2>&1)" 42
has "the image is read-only then" "$("$CORDON" run -q -p "$D/strict.cordon" -- sh -c 'touch /usr/x; echo BEGAN' 2>&1)" "Read-only"
hasnt "what the box wrote does not run" "$("$CORDON" run -q -p "$D/strict.cordon" -- sh -c 'cp /bin/busybox /tmp/echo; chmod 755 /tmp/echo; /tmp/echo ran; true' 2>&1)" ran
is "what the policy says" "$("$CORDON" policy show "$D/strict.cordon" | grep ^root)" "root $r"
has "doors says it" "$("$CORDON" doors --image "$r")" "Root: the image $r"
has "why knows its programs" "$("$CORDON" why --image "$r" run sh)" "the programs of the image"
has "and whose files the others are" "$("$CORDON" why --image "$r" read /etc/shadow)" "root   $r"
has "check reports one that is missing" "$("$CORDON" check --image "$D/none")" "there is no image"
has "the plan says it" "$("$CORDON" run --plan --image "$r" -- ls)" "root     / of the image $r"
is "no stock door is in the plan" "$("$CORDON" run --plan --image "$r" -- ls | grep -c '^bind')" 0
is "run lines cannot choose" "$(status "$CORDON" check --image "$r" --run sh)" 125
is "the process wall cannot hold it" "$(status "$CORDON" run --wall process --image "$r" -- ls)" 125
has "and says so" "$(cat "$T/err")" "process wall does not support an image"
is "it is one only" "$(status "$CORDON" run --image "$r" --image "$D/door" -- ls)" 125
is "the host's root is none" "$(status "$CORDON" run --image / -- ls)" 125
is "nor the home" "$(status "$CORDON" run --image "$HOME" -- ls)" 125
mkdir -p "$D/state"
is "nor cordon's state" "$(CORDON_STATE=$D/state/s status "$CORDON" run --image "$D/state" -- ls)" 125
is "a missing one does not start" "$(status "$CORDON" run --image "$D/none" -- ls)" 125

# Names of the image in the way of the box's own, and of a door: each a symlink to a canary outside.
mkdir "$D/canary"
echo whole >"$D/canary/file"
canary=$(sums "$D/canary")
for form in "$D/canary" "../../../../../../$D/canary" .; do
        h=$D/hostile
        remove "$h"
        make_tree "$h"
        for name in dev proc sys tmp home var; do ln -s "$form" "$h/$name"; done
        ln -s "$form" "$h/etc/hosts"
        ln -s "$form/file" "$h/etc/resolv.conf"
        ln -s "$form" "$h/etc/cordon"
        out=$("$CORDON" run -q --image "$h" -- sh -c 'echo BEGAN; echo x >/tmp/x; echo y >/home/box/y; echo z >/dev/shm/z; cat /etc/hosts; ls -d /proc/self' 2>&1)
        has "own directories in place of links to $form" "$out" "127.0.0.1 localhost"
        has "with its own /proc" "$out" /proc/self
        rm -rf "${h:?}/etc"
        ln -s "$form" "$h/etc"
        has "a linked /etc as well" "$("$CORDON" run -q --image "$h" -- cat /etc/hosts 2>&1)" "127.0.0.1 localhost"
        is "the canary is whole" "$(sums "$D/canary")" "$canary"
done
h=$D/linked
make_tree "$h"
mkdir -p "$h$(dirname "$D")"
ln -s "$D/canary" "$h$D"
is "a link in the way of a door stops the start" "$(status "$CORDON" run --image "$h" --write "$D/door" -- touch "$D/door/outside")" 125
ok "nothing was written" test ! -e "$D/door/outside" -a ! -e "$D/canary/door"
is "so does a link at its mount point" "$(rm "$h$D" && mkdir "$h$D" && ln -s "$D/canary" "$h$D/door" && status "$CORDON" run --image "$h" --write "$D/door" -- touch "$D/door/outside")" 125
is "the canary is whole" "$(sums "$D/canary")" "$canary"
# Directories of the image change places with links while boxes start.
h=$D/moving
make_tree "$h"
mkdir "$h/home" "$h/tmp" "$h/var"
for name in etc home tmp var; do ln -s "$D/canary" "$h/$name.link"; done
python3 - "$h" <<'END' &
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
while os.path.exists('usr'):
    for name in (b'etc', b'home', b'tmp', b'var'):
        libc.syscall({'x86_64': 316, 'aarch64': 276}[os.uname().machine], -100, name, -100, name + b'.link', 2)
END
mover=$!
begun=0
for _ in $(seq 12); do "$CORDON" run -q --image "$h" -- sh -c 'echo x >/tmp/x; echo y >/home/box/y' >/dev/null 2>&1 && begun=$((begun + 1)); done
rm -r "${h:?}/usr"
wait $mover
is "the canary is whole after 12 starts ($begun began)" "$(sums "$D/canary")" "$canary"
h=$D/linked
if [ "$(id -u)" -eq 0 ]; then
        chown -R 65533:65533 "$r"
        is "files of another user do not start" "$(status "$CORDON" run --image "$r" -- ls)" 125
        has "with the way out" "$(cat "$T/err")" "belong to another user"
        mknod "$h/etc/null" c 1 3 && chmod 666 "$h/etc/null"
        cp "$busybox" "$h/bin/id2" && chmod 4755 "$h/bin/id2"
        rm -r "${h:?}/${D#/}" && never "a device in the image is none" "$("$CORDON" run -q --image "$h" -- sh -c 'echo BEGAN; cat /etc/null && echo opened' 2>&1)" opened
else
        skip "a device in the image is none" "only root can make one"
fi
done_testing
