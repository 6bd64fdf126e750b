#!/bin/sh
# tests/escape/run-breakout.sh - every probe of the attack table, in every kind of box: one TAP line per probe and box.
# A probe that gets through fails; one that cannot tell, or that no wall promises to stop, is a loud skip.
# shellcheck disable=SC2016,SC2317
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/lib.sh
# each LABEL COMMAND...: runs a breakout and turns its JSON into TAP.
each() {
        label=$1
        shift
        "$@" >"$T/json" 2>"$T/err"
        status=$?
        case $status in
        0 | 1) ;;
        *)
                fail "$label: the attack runs" "status $status" "$(tail -n 3 "$T/err")"
                return
                ;;
        esac
        sed -n 's/^[[ ]{"probe":"\([^"]*\)","class":"\([^"]*\)","outcome":"\([^"]*\)","layer":"[^"]*","reason":"\(.*\)","success_means":.*/\3|\2|\1|\4/p' \
                "$T/json" >"$T/rows"
        while IFS='|' read -r outcome class probe reason; do
                name="$label: $class: $probe"
                case $outcome in
                held | granted) pass "$name" ;;
                not-promised) skip "$name" "no wall in use promises it: $reason" ;;
                cannot-tell) skip "$name" "$reason" ;;
                *) fail "$name" "$outcome: $reason" ;;
                esac
        done <"$T/rows"
        escaped=$(grep -c '^ESCAPED' "$T/rows")
        is "$label: the exit status tells whether anything escaped" "$status" "$([ "$escaped" -eq 0 ] && echo 0 || echo 1)"
        is "$label: every probe is heard of" "$(grep -c . "$T/rows")" "$expected"
}

expected=$(($("$CORDON" selftest breakout --list | wc -l) + 7)) # and what the host alone can tell
# Not below /tmp: there Landlock's leave to write the private files reaches into what is mounted below them, and a read-only
# mount does not stop the writing of a host's fifo. The claims say so.
DOOR=$(mktemp -d /var/tmp/cordon-test.XXXXXX) || exit 1
trap 'code=$?; rm -rf "$T" "$DOOR"; exit $code' EXIT
mkdir -p "$T/home" && chmod 755 "$T/home" && chmod 777 "$DOOR"
if [ "$(id -u)" -eq 0 ]; then chown 65533:65533 "$T/home"; fi
user() { as_user env HOME="$T/home" "$@"; }

each "default" "$CORDON" selftest breakout --json
each "strict" "$CORDON" selftest breakout --json --use base/strict
each "strict, process wall" "$CORDON" selftest breakout --json --use base/strict --wall process
each "ordinary user, strict" user "$CORDON" selftest breakout --json --use base/strict
each "root inside" "$CORDON" selftest breakout --json --root
each "strict, root inside" "$CORDON" selftest breakout --json --use base/strict --root
each "process wall" "$CORDON" selftest breakout --json --wall process
each "ordinary user" user "$CORDON" selftest breakout --json
each "ordinary user, root inside" user "$CORDON" selftest breakout --json --root
each "ordinary user, strict, root inside" user "$CORDON" selftest breakout --json --use base/strict --root
each "ordinary user, process wall" user "$CORDON" selftest breakout --json --wall process
each "session" "$CORDON" selftest breakout --json --session
each "ordinary user, session, strict" user "$CORDON" selftest breakout --json --session --use base/strict
each "parked" "$CORDON" selftest breakout --json --parked
each "ordinary user, parked, strict" user "$CORDON" selftest breakout --json --parked --use base/strict
each "ordinary user, parked, process wall" user "$CORDON" selftest breakout --json --parked --wall process
# In the process of a python3 that was started before; the program of the attempts lies behind a door then.
self=$(readlink -f "$(dirname "$CORDON")/../libexec/cordon/cordon-selftest")
if [ -x /usr/bin/python3 ] && [ -x "$self" ]; then
        each "warm" "$CORDON" selftest breakout --json --parked --warm python3 --read "$self"
        each "ordinary user, warm" user "$CORDON" selftest breakout --json --parked --warm python3 --read "$self"
else
        skip "a warm python3" "python3 is not installed"
fi
# Without /dev/fuse the root is a plain tmpfs, and not the front of an observer.
if can_hide_fuse; then
        each "ordinary user, without /dev/fuse" without_fuse env HOME="$T/home" "$CORDON" selftest breakout --json
        each "ordinary user, root inside, without /dev/fuse" without_fuse env HOME="$T/home" "$CORDON" selftest breakout --json --root
else
        skip "an ordinary user's box without /dev/fuse" "/dev/fuse cannot be hidden here"
fi
# The things to reach for lie behind a door: what it grants is granted, and nothing beside it.
each "behind a read door" env TMPDIR="$DOOR" "$CORDON" selftest breakout --json --read "$DOOR"
each "behind a write door" env TMPDIR="$DOOR" "$CORDON" selftest breakout --json --write "$DOOR"
each "ordinary user, behind a read door" user TMPDIR="$DOOR" "$CORDON" selftest breakout --json --read "$DOOR"
each "ordinary user, behind a read door, process wall" user TMPDIR="$DOOR" "$CORDON" selftest breakout --json --wall process --read "$DOOR"

# The descriptors, variables and terminals of a careless caller.
if command -v python3 >/dev/null; then
        each "a caller with 200 descriptors" python3 -c '
import os, sys
fd = os.open("/etc", os.O_RDONLY)
for n in range(30, 230):
    os.dup2(fd, n, inheritable=True)
os.execv(sys.argv[1], [sys.argv[1], "selftest", "breakout", "--json"])' "$CORDON"
else
        skip "a caller with 200 descriptors" "there is no python3"
fi

# The program itself lies below places that the attempts list: the way to it is no escape.
if [ "$(id -u)" -eq 0 ]; then
        for place in /var/lib /home /root; do
                below=$(mktemp -d "$place/cordon-test.XXXXXX") || continue
                cp "$CORDON" "$CORDON_LIBEXEC/cordon-selftest" "$below/" && chmod 755 "$below" "$below/"*
                is "a program below $place is no escape" "$(cd / && CORDON_LIBEXEC=$below "$below/cordon" selftest breakout --json | jq -r '(length > 300), (.[] | select(.outcome == "ESCAPED") | .probe)')" true
                rm -rf "$below"
        done
else
        skip "a program below /var/lib, /home and /root is no escape" "only root can put it there"
fi
is "a door in /var/lib is no escape" "$("$CORDON" selftest breakout --json --read /var/lib/dpkg? | jq -r '.[] | select(.outcome == "ESCAPED") | .probe')" ""

# Who owns the program: behind the process wall, which has no mounts, a running program's own file is neither an escape nor a
# proof; behind a door that lets it be written it is granted.
own=$DOOR/own
mkdir "$own" && cp "$CORDON" "$CORDON_LIBEXEC/cordon-selftest" "$own/" && chmod 755 "$own" "$own/"*
[ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$own"
# of OUTCOME DOORS...: which attempts on its own file had this outcome
of() {
        outcome=$1
        shift
        (cd / && user env CORDON_LIBEXEC="$own" "$own/cordon" selftest breakout --json --wall process "$@") |
                jq -r --arg o "$outcome" '.[] | select(.outcome == $o) | .probe' | sort | paste -s -d ';'
}
busy="no moment in which a program can be overwritten;no running program is overwritten through /proc;the prober's own file cannot be written"
is "to its owner a running program is no escape" "$(of ESCAPED)" ""
is "of its file it is said that it cannot be told" "$(of cannot-tell)" "$busy"
is "behind a door it is granted" "$(of granted --write "$own" --run "$own/cordon-selftest" | tr ';' '\n' | grep -c -F -x -e "$(echo "$busy" | tr ';' '\n')")" 3
is "and no escape" "$(of ESCAPED --write "$own" --run "$own/cordon")" ""
rm -rf "$own"

is "nothing to reach for is left behind the door" "$(ls -A "$DOOR")" ""
ok "a signal ends an attack, and nothing is left" sh -c '
        TMPDIR=$2 "$1" selftest breakout >/dev/null 2>&1 & pid=$!
        sleep 0.3; kill -TERM $pid; wait $pid; [ -z "$(ls -A "$2")" ]' sh "$CORDON" "$DOOR"
made() { [ -n "$(ls "$DOOR")" ]; }
# Already while the things to reach for are made: it ends by itself, and not of the signal, when they are gone.
if strace -f -o /dev/null true 2>/dev/null; then
        TMPDIR=$DOOR strace -o "$T/calls" -e trace=listen -e inject=listen:delay_enter=1500000:when=1 sh -c 'echo $$ >"$1"; exec "$2" selftest breakout' sh "$T/pid" "$CORDON" >/dev/null 2>&1 &
        soon made
        kill -TERM "$(cat "$T/pid")"
        wait $!
        is "a signal while they are made, too" "$? $(grep -c killed "$T/calls") $(ls -A "$DOOR")" "143 0 "
else
        skip "a signal while they are made, too" "strace cannot trace here"
fi
# left: what there is of the attack with this $mark; its directory's name ends in that, and its keys are made of it
left() {
        ls -A "$DOOR"
        find /dev/shm /dev/mqueue -name "cordon-breakout-$mark" 2>/dev/null
        cat /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | awk -v key=$((0x0$mark & 0x7fffffff | 1)) '$1 == key'
}
marks=0
for after in 0.002 0.005 0.01 0.02 0.04 0.08 0.2 "it has begun"; do
        TMPDIR=$DOOR "$CORDON" selftest breakout >/dev/null 2>&1 &
        pid=$!
        case $after in it*) soon made ;; *) sleep $after ;; esac # how far it is after a time, a busy machine decides
        mark=$(ls "$DOOR" | sed -n 's/^cordon-breakout\.//p')
        [ -z "$mark" ] || marks=$((marks + 1))
        kill -KILL $pid
        wait $pid 2>/dev/null
        nothing() { [ -z "$(left)" ]; }
        soon nothing
        is "killed after $after: nothing is left" "$(left)" ""
done
ok "there was something to leave ($marks of 8)" test $marks -gt 0
# Between its birth and its wish to go with its parent, the bystander's parent is killed.
if strace -f -o "$T/probe" true 2>/dev/null && [ -s "$T/probe" ]; then
        TMPDIR=$DOOR strace -f -qq -o "$T/trace" -e trace=prctl -e inject=prctl:delay_enter=2000000:when=1 "$CORDON" selftest breakout >/dev/null 2>&1 &
        tracer=$!
        soon grep -q PR_SET_PDEATHSIG "$T/trace"
        family=$(pgrep -P "$(pgrep -P $tracer)" | tr '\n' ' ')
        ok "its parent has children ($family)" test -n "$family"
        kill -KILL "$(pgrep -P $tracer)"
        living() { for p in $family; do ! kill -0 "$p" 2>/dev/null || echo "$p"; done; }
        gone() { [ -z "$(living)" ]; }
        ok "a bystander whose parent is killed at its birth ends, like all" soon gone
        for p in $(living); do kill -KILL "$p"; done
        wait $tracer 2>/dev/null
else
        skip "a bystander whose parent is killed at its birth ends" "strace cannot trace here"
fi
has "the list names what success would mean" "$("$CORDON" selftest breakout --list)" "any file of the host can be read"
# An image as the root, which holds nothing but the prober. With `run any` the box may change the image in its overlay: the
# attempts that look at this host's programs by their names find the image's. The image itself stays as it is.
programs=${CORDON_LIBEXEC:-$(dirname "$CORDON")/../libexec/cordon}
if file -L "$programs/cordon-selftest" | grep -q static; then
        elsewhere breakout # its path must not be in the box's own /tmp
        trap 'code=$?; rm -rf "$T" "$DOOR" "$D"; exit $code' EXIT
        mkdir "$D/libexec"
        cp -L "$programs"/cordon-* "$D/libexec/"
        self=$D/libexec/cordon-selftest
        image=$D/image
        mkdir -p "$image$(dirname "$self")" "$image/usr/bin" "$image/etc"
        cp "$self" "$image$self"
        : >"$image/usr/bin/sh"
        sums() { (cd "$image" && find . -printf '%p %y %m %s %T@\n' | sort && find . -type f -exec cksum {} +) | cksum; }
        own='no inotify on files that all boxes share
no moment in which a program can be overwritten
no running program is overwritten through /proc
nothing can be made beside program files
program files cannot be written
the prober'"'"'s own file cannot be moved
the prober'"'"'s own file cannot be written
the root lists nothing of the host
what no door names does not exist
/sys is not here'
        # in_image LABEL ALLOWED COMMAND...: nothing but these gets through, which look for names and find the image's
        in_image() {
                label=$1 allowed=$2
                shift 2
                "$@" >"$T/json" 2>/dev/null
                is "$label: nothing gets through" \
                        "$(sed -n 's/^[[ ]{"probe":"\([^"]*\)","class":"[^"]*","outcome":"ESCAPED".*/\1/p' "$T/json" | grep -vxF "$allowed")" ""
                is "$label: every probe is heard of" "$(grep -c '"outcome":"[hgnE]' "$T/json")" "$expected"
        }
        for who in "" user; do
                [ "$who" != user ] || [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$image"
                before=$(sums)
                set -- $who env CORDON_LIBEXEC="$D/libexec" "$CORDON" selftest breakout --json --image "$image"
                in_image "image, strict${who:+, ordinary user}" "what no door names does not exist" "$@" --use base/strict
                in_image "image${who:+, ordinary user}" "$own" "$@"
                is "image${who:+, ordinary user}: the image is as it was" "$(sums)" "$before"
        done
        rm -rf "$D"
else
        skip "an image as the root" "the prober is not a static program here"
fi
done_testing
