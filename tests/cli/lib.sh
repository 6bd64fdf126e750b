# tests/cli/lib.sh - sourced by every t*.sh: TAP for shell. Names are sentences.
#   ok NAME COMMAND...       passes when the command does
#   is NAME GOT WANT         passes when the texts are equal
#   has NAME TEXT PART       passes when PART is in TEXT
#   hasnt NAME TEXT PART
#   never NAME TEXT PART     passes when a script in a box began, which says BEGAN first, and PART is not in TEXT: of a box
#                            that does not start there is no PART either
#   skip NAME REASON
#   status COMMAND...        prints its exit status; its output is in $T/out, $T/err
#   compile NAME             $T/NAME of $here/helpers/NAME.c, static, for every user; without it the test ends
#   terminal COMMAND...      runs it on a terminal of its own; prints what it says
#   elsewhere NAME           $D, a directory of the test's own that is not below /tmp, of which a box has its own; without one
#                            the test is skipped
#   watched                  ends the test as skipped where a box of this caller does not tell which hidden paths it asked for
#   remove PATH...           with all below it, also what nobody may enter
#   soon COMMAND...          waits until it holds. A busy machine may take long for what is done at once on another: up to
#                            twenty seconds; what does not come by then is found by who looks for it
# short RUN: as much of its id as a person is shown.
short() { echo "${1%????????????}"; }
# CORDON is the program; T a directory that goes away at the end. as_user runs a command as an ordinary user.
set -u
: "${CORDON:?}"
: "${CORDON_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
export CORDON_SOURCE
. "$CORDON_SOURCE/tests/clean.sh"
N=0
FAILED=0
T=$(mktemp -d "${TMPDIR:-/tmp}/cordon-test.XXXXXX") || exit 1
chmod 755 "$T"
# The ledger's sealer lingers and may still write there, and an ordinary user may not look into what overlayfs made: then a
# second try.
remove() { rm -rf "$@" 2>/dev/null || { sleep 3; chmod -R u+rwX "$@" 2>/dev/null; rm -rf "$@"; }; }
# shellcheck disable=SC2154
trap 'code=$?; remove "$T"; exit $code' EXIT

pass() { N=$((N + 1)); echo "ok $N - $1"; }
fail() { N=$((N + 1)); FAILED=1; echo "not ok $N - $1"; shift; for line in "$@"; do printf '%s\n' "$line" | sed 's/^/# /'; done; }
skip() { N=$((N + 1)); echo "ok $N - $1 # SKIP $2"; }
ok() { name=$1; shift; if "$@" >"$T/.out" 2>&1; then pass "$name"; else fail "$name" "$*" "$(tail -n 5 "$T/.out")"; fi; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:  $2" "want: $3"; fi; }
has() { case $2 in *"$3"*) pass "$1" ;; *) fail "$1" "no \"$3\" in: $2" ;; esac; }
hasnt() { case $2 in *"$3"*) fail "$1" "\"$3\" is in: $2" ;; *) pass "$1" ;; esac; }
never() { case $2 in *"$3"*) fail "$1" "\"$3\" is in: $2" ;; *BEGAN*) pass "$1" ;; *) fail "$1" "it did not begin: $2" ;; esac; }
status() { "$@" >"$T/out" 2>"$T/err" </dev/null; echo $?; }
compile() { cc -O1 -static -o "$T/$1" "$here/helpers/$1.c" && chmod 755 "$T/$1" || { fail "helpers/$1.c compiles"; done_testing; }; }
# A terminal of its own for a command; what it prints.
terminal() { python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    out += got
os.waitpid(pid, 0)
sys.stdout.buffer.write(out)' "$@"; }
watched() {
        [ ! -w /dev/fuse ] || return 0
        skip "$(basename "$0" .sh)" "hidden paths are not told: /dev/fuse is not for us"
        done_testing
}
elsewhere() {
        D=$(mktemp -d "/srv/$1.XXXXXX" 2>/dev/null || mktemp -d "$HOME/.$1.XXXXXX") || exit 1
        case $D in
        /tmp/* | /var/tmp/*)
                rmdir "$D"
                skip "$(basename "$0" .sh)" "your home lies below /tmp, of which a box has its own"
                done_testing
                ;;
        esac
        chmod 755 "$D"
}
soon() { for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }
done_testing() { echo "1..$N"; exit $FAILED; }
# orphans: control groups of boxes whose keeper is gone; the boxes of other tests may live beside this one.
# none_left: soon there is none but those of before (before=$(orphans)).
orphans() {
        find /sys/fs/cgroup -maxdepth 2 -name 'cordon-*' 2>/dev/null | while read -r g; do
                p=${g##*/cordon-}
                [ -d "/proc/${p%%-*}" ] || echo "$g"
        done
}
no_more() { new=$(orphans | grep -v -x -F -e "$before"); [ -z "$new" ]; }
none_left() { soon no_more || { echo "$new"; return 1; }; }

# retell NAME FILE: the checks of a program, one line each, "ok ..." or not, as ours
retell() {
        while read -r line; do
                case $line in
                "ok "*) pass "$1: ${line#ok }" ;;
                *) fail "$1: ${line#not ok }" ;;
                esac
        done <"$2"
}

# An ordinary user, whoever runs the tests: uid 65533 when we are root, ourselves otherwise.
if [ "$(id -u)" -eq 0 ]; then
        as_user() { setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/nonexistent CORDON_STATE="$T/state-user" "$@"; }
        mkdir -m 700 "$T/state-user" && chown 65533:65533 "$T/state-user"
else
        as_user() { env CORDON_STATE="$T/state-user" "$@"; }
        mkdir -m 700 "$T/state-user"
fi
# without_fuse COMMAND...: as an ordinary user to whom /dev/fuse is closed; only root can arrange it
without_fuse() {
        : >"$T/fuse" && chmod 600 "$T/fuse"
        unshare -m sh -c 'mount --bind "$1" /dev/fuse && shift && exec setpriv --reuid 65533 --regid 65533 --clear-groups "$@"' sh \
                "$T/fuse" env HOME=/nonexistent CORDON_STATE="$T/state-user" "$@"
}
can_hide_fuse() { [ "$(id -u)" -eq 0 ] && [ -e /dev/fuse ] && without_fuse sh -c '! [ -r /dev/fuse ]' 2>/dev/null; }
state_of() { [ "$1" = root ] && echo "$T/state" || echo "$T/state-user"; } # WHO: root or as_user
# State of its own for each test, and our other programs where every user can reach them.
CORDON_STATE=$T/state CORDON_LIBEXEC=$T/libexec
export CORDON_STATE CORDON_LIBEXEC
mkdir -p "$T/libexec" && for program in "$(dirname "$CORDON")"/../libexec/cordon/*; do
        [ ! -x "$program" ] || cp "$program" "$T/libexec/"
done
# Said once for each state directory, on hosts that do not show denied paths: not in the output that a test compares.
[ -r /dev/fuse ] || { mkdir -m 700 "$CORDON_STATE" && : >"$CORDON_STATE/told-blind"; }
as_user test -r /dev/fuse || : >"$T/state-user/told-blind"
# The program where every user can reach it, also when the checkout is private.
cp "$CORDON" "$T/cordon" && chmod 755 "$T/cordon" && CORDON=$T/cordon

# verbs: every command, a line each; one of two words has a `_` between them (see words)
verbs_of() { # VERB: itself, and what is below it
        echo "$1"
        for w in $("$CORDON" help $(words "$1") | sed -n '/^Commands:$/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
                verbs_of "$1_$w"
        done
}
verbs() {
        for v in $("$CORDON" help | sed -n '/^Run$/,/^`cordon/s/^  \([a-z]*\) .*/\1/p'); do
                verbs_of "$v"
        done
}
words() { echo "$1" | tr _ ' '; }
