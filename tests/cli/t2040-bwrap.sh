#!/bin/sh
# cordon-bwrap: each option of bubblewrap's command line, as root and as an ordinary user; and the same answers as bubblewrap
# itself, if it is installed and has the option.
. "$(dirname "$0")/lib.sh"
B=$T/libexec/cordon-bwrap
[ -x "$B" ] || { fail "cordon-bwrap is built"; done_testing; }
peer=$(command -v bwrap) && "$peer" --help >"$T/peer.help" 2>&1 || peer=
[ -z "$peer" ] || "$peer" --dev-bind / / true 2>/dev/null || peer=
if [ "$(id -u)" -eq 0 ]; then users="root as_user"; else users=as_user; fi
root() { "$@"; }
repo=$(cd "$(dirname "$0")/../.." && pwd)

mkdir "$T/dir" "$T/low" "$T/low2" && echo in >"$T/dir/file" && echo one >"$T/low/a" && echo two >"$T/low2/a" && echo low >"$T/low/b"
echo data >"$T/data"
printf -- '--setenv\0FROM\0args\0--dir\0/tmp/made' >"$T/args"
chmod -R a+rX "$T/dir" "$T/low" "$T/low2"
cd "$T/dir" || exit 1
base="--ro-bind / / --dev-bind /dev /dev --tmpfs /tmp"

# try PROGRAM ARGUMENTS: output, errors and status, with input at 5 to 7 and output at 8
try() { "$who" "$@" 2>&1 5<"$T/data" 6<"$T/args" 7<"$T/dir" 8>"$T/eight"; echo "=$?"; }
# t NAME WANT ARGUMENTS: ours gives WANT, and bubblewrap, if it knows the options, the same
t() {
        name=$1 want=$2
        shift 2
        for who in $users; do
                got=$(try "$B" "$@")
                is "$who: $name" "$got" "$want"
                has_peer "$@" && is "$who: $name, as bubblewrap" "$got" "$(try "$peer" "$@")"
        done
}
has_peer() {
        [ -n "$peer" ] || return 1
        for word; do
                case $word in --) return 0 ;; --*) grep -qw -e "$word" "$T/peer.help" || return 1 ;; esac
        done
}
# fails NAME PART ARGUMENTS: refused with a message that has PART
fails() {
        name=$1 part=$2
        shift 2
        for who in $users; do
                got=$(try "$B" "$@")
                has "$who: $name" "$got" "$part"
                has "$who: $name: status 1, one line" "$(printf '%s' "$got" | sed 's/^bwrap: .*//' | tr -d '\n')" "=1"
        done
}

# ---- general
has "--help lists the options" "$("$B" --help)" "--ro-bind-data FD DEST"
has "--version is one that scripts compare" "$("$B" --version)" "bubblewrap 0."
is "without a command: usage, status 1" "$("$B" 2>&1 >/dev/null | head -n 1 | cut -c1-6) $(status "$B" --unshare-pid)" "usage: 1"
fails "an unknown option" "bwrap: Unknown option --bnid" --bnid / / true
fails "an argument is missing" "--bind takes two arguments" --bind /
fails "not a descriptor" "Invalid fd: x" --args x true
t "the command's status" "=7" $base sh -c 'exit 7'
t "of a signal" "=143" $base sh -c 'kill -TERM $$'
t "-- ends the options" "hi
=0" $base -- echo hi
t "--args" "args
=0" $base --args 6 sh -c 'echo $FROM; test -d /tmp/made'
t "--argv0" "other
=0" $base --argv0 other sh -c 'echo $0'
t "--chdir, twice" "bwrap: Only the last --chdir option will take effect
/tmp
=0" $base --chdir / --chdir /tmp pwd
t "--level-prefix" "<4>bwrap: Only the last --chdir option will take effect
=0" $base --level-prefix --chdir / --chdir /tmp true
fails "a program that does not exist" "bwrap: execvp $T/none: No such file" $base $T/none
fails "labels of SELinux" "--exec-label is not supported" --exec-label x true
fails "labels of SELinux of files" "--file-label is not supported" --file-label x true

# ---- environment
t "--setenv, --unsetenv" "v-
=0" --setenv CORDON_A v --setenv CORDON_B w --unsetenv CORDON_B $base sh -c 'echo $CORDON_A-$CORDON_B'
t "--clearenv leaves PWD" "PWD=/
=0" $base --clearenv --chdir / "$(command -v env)"
fails "a name without letters" "--setenv: a name is not empty" $base --setenv '' x true

# ---- namespaces. other NAME: is it another than the caller's?
for space in user ipc pid net uts cgroup; do
        for who in $users; do
                got=$(try "$B" "--unshare-$space" --ro-bind / / --proc /proc readlink "/proc/self/ns/$space")
                hasnt "$who: --unshare-$space" "$got" "$(readlink /proc/self/ns/$space)"
                has "$who: --unshare-$space is one" "$got" "$space:["
        done
done
for who in $users; do
        got=$(try "$B" --unshare-all --share-net --ro-bind / / --proc /proc sh -c 'for n in net ipc uts; do readlink /proc/self/ns/$n; done')
        has "$who: --share-net keeps the network" "$got" "$(readlink /proc/self/ns/net)"
        hasnt "$who: --unshare-all leaves the rest" "$got" "$(readlink /proc/self/ns/ipc)"
        got=$(try "$B" --ro-bind / / sh -c 'for n in net ipc uts pid; do readlink /proc/self/ns/$n; done')
        is "$who: without options the namespaces are the caller's" "$got" "$(for n in net ipc uts pid; do readlink /proc/self/ns/$n; done; echo "=0")"
done
t "the variants that try" "=0" --unshare-user-try --unshare-cgroup-try $base true
t "--uid, --gid" "5 6
=0" --unshare-user --uid 5 --gid 6 $base sh -c 'echo $(id -u) $(id -g)'
t "--hostname" "boxed
=0" --unshare-uts --hostname boxed $base uname -n
fails "--hostname alone" "requires --unshare-uts" --hostname x $base true
t "loopback is up" "=0" --unshare-net $base python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.create_connection(s.getsockname())'
t "--as-pid-1" "1
=0" --unshare-pid --as-pid-1 $base sh -c 'echo $$'
t "a reaper is process 1" "2
=0" --unshare-pid $base sh -c 'echo $$'
fails "--as-pid-1 alone" "requires --unshare-pid" --as-pid-1 $base true
t "--disable-userns" "no
=0" --unshare-user --disable-userns $base sh -c 'unshare -U true 2>/dev/null || echo no'
fails "--assert-userns-disabled" "was not disabled as requested" --unshare-user --assert-userns-disabled $base true
# hold OPTIONS: a box that runs until let_go; $pid is its first process, whose ids are mapped
hold() {
        mkfifo "$T/fifo" && chmod 666 "$T/fifo"
        : >"$T/up"
        "$who" "$B" --unshare-user --unshare-pid --info-fd 8 --ro-bind / / "$@" sh -c "echo >&9; cat $T/fifo" 8>"$T/info" 9>"$T/up" &
        held=$!
        soon test -s "$T/up"
        pid=$(sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p' "$T/info")
}
let_go() { echo >"$T/fifo" && wait $held && rm "$T/fifo" "$T/info" "$T/up"; }
enter() { "$who" sh -c "exec 3<'/proc/$pid/ns/user' 4<'/proc/$pid/ns/pid'; exec \"\$@\"" sh "$B" "$@"; }
for who in $users; do
        hold
        is "$who: --userns" "$(enter --userns 3 --ro-bind / / readlink /proc/self/ns/user)" "$("$who" readlink "/proc/$pid/ns/user")"
        is "$who: --pidns" "$(enter --userns 3 --pidns 4 --ro-bind / / --proc /proc readlink /proc/self/ns/pid)" "$("$who" readlink "/proc/$pid/ns/pid")"
        is "$who: --pidns and another below it" "$(enter --userns 3 --pidns 4 --unshare-pid --ro-bind / / --proc /proc sh -c 'echo $$; exit 9'; echo $?)" "2
9"
        let_go
done
# With --dev a box of an ordinary user has two user namespaces, one in the other.
who=as_user
hold --dev /dev
is "--userns2" "$(as_user python3 -c 'import fcntl, os, sys
inner = os.open("/proc/%s/ns/user" % sys.argv[1], os.O_RDONLY)
outer = fcntl.ioctl(inner, 0xb702) # NS_GET_PARENT
for fd in inner, outer: os.set_inheritable(fd, True)
os.execv(sys.argv[2], [sys.argv[2], "--userns", str(outer), "--userns2", str(inner), "--ro-bind", "/", "/", "readlink", "/proc/self/ns/user"])' "$pid" "$B" 2>&1)" "$(as_user readlink "/proc/$pid/ns/user")"
let_go

# ---- files
t "--bind" "in
=0" $base --bind "$T/dir" /tmp/x cat /tmp/x/file
t "--ro-bind is read-only" "no
=0" $base --ro-bind "$T/dir" /tmp/x sh -c 'touch /tmp/x/new 2>/dev/null || echo no'
t "--bind-try, --ro-bind-try and --dev-bind-try of nothing" "=0" $base --bind-try $T/none /tmp/x --ro-bind-try $T/none /tmp/x \
        --dev-bind-try $T/none /tmp/x true
fails "--bind of nothing" "bwrap: Can't find source path $T/none: No such file" $base --bind "$T/none" /tmp/x true
t "--dev-bind has devices, --bind has none" "yes
no
=0" $base --dev-bind /dev /tmp/a --bind /dev /tmp/b sh -c 'echo x >/tmp/a/null && echo yes; { echo x >/tmp/b/null; } 2>/dev/null || echo no'
t "--bind-fd, --ro-bind-fd" "in
no
=0" $base --bind-fd 7 /tmp/x --ro-bind-fd 5 /tmp/y sh -c 'cat /tmp/x/file; { echo >/tmp/y; } 2>/dev/null || echo no'
t "a source by its descriptor" "in
=0" $base --bind /proc/self/fd/7 /tmp/x cat /tmp/x/file
t "--tmpfs, --perms, --size" "1777
1024
=0" $base --perms 1777 --size 1048576 --tmpfs /tmp/x sh -c 'stat -c %a /tmp/x; df --output=size --block-size=1K /tmp/x | tail -n 1 | tr -d " "'
t "--dir" "755 700
=0" $base --dir /tmp/a/b --perms 0700 --dir /tmp/c sh -c 'echo $(stat -c %a /tmp/a/b /tmp/c)'
t "--file" "data
666
=0" $base --file 5 /tmp/f sh -c 'cat /tmp/f; stat -c %a /tmp/f'
t "--bind-data" "data
600
=0" $base --bind-data 5 /tmp/f sh -c 'cat /tmp/f; stat -c %a /tmp/f; echo more >>/tmp/f'
t "--ro-bind-data" "data
no
=0" $base --ro-bind-data 5 /tmp/f sh -c 'cat /tmp/f; touch /tmp/f 2>/dev/null; { echo more >>/tmp/f; } 2>/dev/null || echo no'
t "--symlink" "to
=0" $base --symlink to /tmp/l readlink /tmp/l
fails "--symlink over another" "existing destination is to" $base --symlink to /tmp/l --symlink other /tmp/l true
t "--chmod" "751
=0" $base --dir /tmp/a --chmod 0751 /tmp/a stat -c %a /tmp/a
t "--remount-ro, without the mounts below" "no
yes
=0" $base --tmpfs /tmp/a --tmpfs /tmp/a/b --remount-ro /tmp/a sh -c '{ echo >/tmp/a/f; } 2>/dev/null || echo no; echo >/tmp/a/b/f && echo yes'
t "--proc" "yes
=0" --unshare-pid $base --proc /proc sh -c 'test -e /proc/1 && test $(ls -d /proc/[0-9]* | wc -l) -lt 8 && echo yes'
t "--dev" "core
fd
full
null
ptmx
pts
random
shm
stderr
stdin
stdout
tty
urandom
zero
=0" $base --dev /dev ls /dev
t "terminals of a new /dev" "/dev/pts/0
=0" --unshare-pid $base --proc /proc --dev /dev python3 -c 'import os, pty; m, s = pty.openpty(); print(os.ttyname(s))'
t "--mqueue" "mqueue
=0" --unshare-ipc $base --mqueue /tmp/q stat -f -c %T /tmp/q
for who in $users; do
        is "$who: a mount on / by way of a symlink is the root" "$(try "$B" --symlink / /x --ro-bind / /x --dev-bind /dev /dev --tmpfs /tmp \
                sh -c 'ls -A /tmp; test / -ef /.. && echo one')" "one
=0"
        is "$who: --symlink, twice the same" "$(try "$B" $base --symlink to /tmp/l --symlink to /tmp/l readlink /tmp/l)" "to
=0"
done

# ---- overlays
if "$B" --unshare-user $base --overlay-src "$T/low" --tmp-overlay /tmp/o true 2>/dev/null; then
        t "--tmp-overlay" "two
low
new
=0" $base --overlay-src "$T/low" --overlay-src "$T/low2" --tmp-overlay /tmp/o sh -c 'cat /tmp/o/a /tmp/o/b; echo new >/tmp/o/c; cat /tmp/o/c'
        many=
        for i in 1 2 3 4 5 6 7 8 9; do mkdir "$T/many$i" && echo "$i" >"$T/many$i/a" && : >"$T/many$i/$i" && many="$many --overlay-src $T/many$i"; done
        if [ "$(uname -r | awk -F. '{ print $1 * 100 + $2 }')" -ge 605 ]; then
                # shellcheck disable=SC2086
                t "many layers" "9
10
=0" $base $many --ro-overlay /tmp/o sh -c 'cat /tmp/o/a; ls /tmp/o | wc -l'
        fi
        t "--ro-overlay" "two
no
=0" $base --overlay-src "$T/low" --overlay-src "$T/low2" --ro-overlay /tmp/o sh -c 'cat /tmp/o/a; { echo >/tmp/o/a; } 2>/dev/null || echo no'
        for who in $users; do
                D=$("$who" mktemp -d "/var/tmp/cordon-bwrap.XXXXXX") && "$who" mkdir "$D/up:,\\" "$D/work"
                is "$who: --overlay, with a name that means something in options" "$(try "$B" $base --overlay-src "$T/low" --overlay "$D/up:,\\" "$D/work" /tmp/o \
                        sh -c 'echo kept >/tmp/o/c'; cat "$D/up:,\\/c"; ls "$T/low")" "=0
kept
a
b"
                chmod -R u+rwX "$D"
                rm -rf "$D"
        done
else
        skip "--tmp-overlay" "this kernel mounts no overlay for a user namespace"
fi
fails "an overlay without layers" "--overlay requires at least one --overlay-src" $base --overlay a b /tmp/o true
fails "a layer without its overlay" "--overlay-src must be followed by" $base --overlay-src "$T/low" true
fails "--perms without a file" "--perms must be followed by" $base --perms 0700 --proc /proc true
fails "--size without --tmpfs" "--size must be followed by --tmpfs" $base --size 5 --dir /tmp/a true
fails "--perms twice" "--perms given twice" $base --perms 0700 --perms 0700 --dir /tmp/a true
fails "no mode" "takes an octal argument" $base --perms 9 --dir /tmp/a true
fails "an empty destination" "the destination is empty" $base --dir '' true
fails "an empty source" "the source is empty" $base --bind '' /tmp/x true

# ---- watching it
for who in $users; do
        try "$B" --unshare-all --json-status-fd 8 --ro-bind / / sh -c 'exit 4' >/dev/null
        has "$who: --json-status-fd names the child" "$(head -n 1 "$T/eight")" '{ "child-pid": '
        has "$who: with its namespaces" "$(head -n 1 "$T/eight")" '"pid-namespace": '
        is "$who: and its status" "$(tail -n 1 "$T/eight")" '{ "exit-code": 4 }'
        ok "$who: each line is JSON" jq -e . "$T/eight"
        try "$B" --json-status-fd 8 --ro-bind / / $T/none >/dev/null
        hasnt "$who: not of a command that was not executed" "$(cat "$T/eight")" exit-code
        try "$B" --info-fd 8 --ro-bind / / true >/dev/null
        ok "$who: --info-fd is JSON" jq -e '.["child-pid"] > 0 and .["mnt-namespace"] > 0' "$T/eight"

        # --block-fd: the command starts when there is a byte
        mkfifo "$T/fifo" && chmod 666 "$T/fifo"
        exec 9<>"$T/fifo"
        : >"$T/eight"
        "$who" "$B" --block-fd 9 --json-status-fd 8 --ro-bind / / echo ran 8>"$T/eight" >"$T/ran" &
        soon grep -q child-pid "$T/eight"
        is "$who: --block-fd holds it" "$(cat "$T/ran")" ""
        echo >&9
        wait $!
        is "$who: and lets it go" "$(cat "$T/ran")" "ran"

        # --userns-block-fd: another process maps the ids
        if [ "$who" = root ]; then
                : >"$T/eight"
                "$B" --unshare-user --info-fd 8 --userns-block-fd 9 --ro-bind / / id -u 8>"$T/eight" >"$T/ran" &
                soon grep -q '}' "$T/eight"
                pid=$(sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p' "$T/eight")
                echo "7 0 1" >"/proc/$pid/uid_map" && echo "7 0 1" >"/proc/$pid/gid_map"
                echo >&9
                wait $!
                is "--userns-block-fd: the ids are what the other process mapped" "$(cat "$T/ran")" 7
        fi
        exec 9<&-
        rm "$T/fifo"

        # --sync-fd and --lock-file last as long as the box, beyond the command
        mkfifo "$T/fifo" && chmod 666 "$T/fifo"
        : >"$T/lock" && chmod 666 "$T/lock"
        locked() { ! python3 -c 'import fcntl, sys; fcntl.lockf(open(sys.argv[1], "a"), fcntl.LOCK_EX | fcntl.LOCK_NB)' "$T/lock" 2>/dev/null; }
        "$who" "$B" --unshare-pid --ro-bind / / --lock-file "$T/lock" sh -c "cat $T/fifo" &
        ok "$who: --lock-file" soon locked
        echo >"$T/fifo"
        wait $!
        free() { ! locked; }
        ok "$who: until the box ends" soon free
        is "$who: --sync-fd is kept from the command" "$(try "$B" --sync-fd 7 --ro-bind / / sh -c 'test -e /proc/self/fd/7 || echo closed')" "closed
=0"
        rm "$T/fifo"
done
fails "--userns-block-fd alone" "requires --unshare-user" --userns-block-fd 5 $base true
t "--new-session" "yes
=0" --new-session $base sh -c 'test "$(ps -o sid= -p $$ | tr -d " ")" = $$ && echo yes'
for who in $users; do
        : >"$T/eight"
        # shellcheck disable=SC2016
        "$who" sh -c '"$0" --die-with-parent --unshare-pid --json-status-fd 8 --ro-bind / / sleep 600 & kill -STOP $$' "$B" 8>"$T/eight" &
        parent=$!
        soon grep -q child-pid "$T/eight"
        pid=$(sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p' "$T/eight")
        kill -KILL $parent $(cat /proc/$parent/task/$parent/children)
        gone() { ! kill -0 "$pid" 2>/dev/null; }
        ok "$who: --die-with-parent" soon gone
done 2>/dev/null

t "--not-a-security-boundary" "=0" --not-a-security-boundary $base true

# ---- capabilities and filters
for who in $users; do
        got=$(try "$B" --unshare-user --cap-drop ALL --ro-bind / / grep -E '^Cap|NoNew|Seccomp:' /proc/self/status)
        is "$who: --cap-drop ALL" "$(printf '%s' "$got" | grep Cap | grep -v -c 0000000000000000)" 0
        has "$who: no new privileges" "$got" "NoNewPrivs:	1"
        has "$who: a filter" "$got" "Seccomp:	2"
        got=$(try "$B" --unshare-user --cap-drop ALL --cap-add CAP_KILL --cap-add net_raw --ro-bind / / grep CapEff /proc/self/status)
        has "$who: --cap-add" "$got" 0000000000002020
done
fails "an unknown capability" "unknown cap: CAP_NONE" --cap-add CAP_NONE $base true
python3 - "$T/filter" <<'END'
import struct, sys
rows = [(0x20, 0, 0, 4), (0x15, 1, 0, 0xC00000B7), (0x15, 0, 3, 0xC000003E), (0x20, 0, 0, 0), (0x15, 0, 1, 83), (0x06, 0, 0, 0x50000 | 111)]
rows.append((0x06, 0, 0, 0x7FFF0000))
open(sys.argv[1], "wb").write(b"".join(struct.pack("HBBI", *r) for r in rows))
END
if [ "$(uname -m)" = x86_64 ]; then
        for how in "--seccomp 7" "--add-seccomp-fd 7"; do
                for who in $users; do
                        # shellcheck disable=SC2086
                        is "$who: $how" "$("$who" "$B" $base $how python3 -c 'import ctypes, os
c = ctypes.CDLL(None, use_errno=True); c.syscall(83, b"/tmp/x", 0o700); print(ctypes.get_errno())' 7<"$T/filter" 2>&1)" 111
                done
        done
fi
fails "half a filter" "must be multiple of 8" $base --seccomp 5 true
fails "both kinds" "cannot be combined with" $base --seccomp 5 --add-seccomp-fd 6 true

# ---- the table
is "cordon policy import knows each option" "$("$B" --help | sed -n 's/^    \(--[a-z0-9-]*\).*/\1/p' | grep -v -e --help -e --version |
        while read -r o; do grep -q "\"$o\"" "$repo/src/policy/from/from_bwrap.c" || echo "$o"; done)" ""
[ -z "$peer" ] || is "every option of the bubblewrap here" "$(sed -n 's/^    \(--[a-z0-9-]*\).*/\1/p' "$T/peer.help" | sort -u >"$T/theirs"
        "$B" --help | sed -n 's/^    \(--[a-z0-9-]*\).*/\1/p' | sort -u | comm -23 "$T/theirs" - | tr '\n' ' ')" ""
done_testing
