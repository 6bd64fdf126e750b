#!/bin/sh
# What `cordon why` says of an effect is what a program in that box sees: the same decision, the same errno, and the layer
# it names is the one that answers. The layer is tried with a build that can leave layers out (never the released
# one): with all the layers that why names left out the effect succeeds; with only the ones behind the first left
# out the answer is the same; with any single one of several left out it is still refused.
. "$(dirname "$0")/lib.sh"
elsewhere cordon-why
B=$(mktemp -d "${D%/*}/cordon-why-bin.XXXXXX") || exit 1 # the helper: what leads to it is seen
OWN=/tmp/cordon-why-own.$$
trap 'code=$?; [ -z "${LISTENER:-}" ] || kill "$LISTENER"; remove "$T" "$D" "$B" "$OWN"; exit $code' EXIT
chmod 777 "$D" && chmod 755 "$B"
if ! cc -static -O1 -o "$B/effect" "$(dirname "$0")/helpers/effect.c" 2>"$T/log"; then
        fail "the helper builds" "$(cat "$T/log")"
        done_testing
fi
E=$B/effect
mkdir "$D/d" "$D/d/sub" "$D/d/sub/in" "$D/w"
for f in canary one d/canary d/f d/sub/canary d/sub/s d/sub/in/s w/canary w/f; do echo x >"$D/$f"; done
cp "$E" "$D/d/prog" && cp "$E" "$D/w/prog" && echo x >"$T/open"
chmod -R a+rwX "$D" && chmod a+r "$T/open"
"$E" listen "$D/sock" >"$T/port" &
LISTENER=$!
soon test -s "$T/port"
PORT=$(cat "$T/port")
ln "$D/sock" "$D/d/sock" && ln "$D/sock" "$D/w/sock"

cat >"$T/except" <<END
use base/system
read $D/d except sub f prog
END
echo "read $D/d" >"$T/norun"
printf 'read %s/d\nrun %s/d/prog\n' "$D" "$D" >"$T/runs"
printf 'use none\nread %s/one\n' "$D" >"$T/one"
printf 'use base/system\nread %s/d until 2001-01-01\n' "$D" >"$T/old"

HOOKED=
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" && HOOKED=$T/hooked
ok "the build that can leave layers out builds" test -n "$HOOKED"
cd "$T" || exit 1
WHY_SECRET=x
export WHY_SECRET

field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$T/why"; }
box() { # PROGRAM OPTIONS WORD WHAT: what the helper saw
        rm -f "$D/d/new" "$D/d/sub/new" "$D/new" "$D/w/own" "$OWN" # what a try without walls left outside
        # shellcheck disable=SC2086
        "$1" run -q $2 -- "$E" "$3" "$4" </dev/null 2>"$T/err" | head -n 1
}
out() { CORDON_KNOCKOUT=$1 box "$HOOKED" "$opts" "$try" "$what"; }

# probe OPTIONS WORD WHAT [TRY]: one question. WORD in capitals: the host's own modes refuse it too, so leaving our layers out
# does not open it.
RIGHT=0 ASKED=0
probe() {
        opts=$1 word=$(echo "$2" | tr 'A-Z' 'a-z') what=$3 try=${4:-$(echo "$2" | tr 'A-Z' 'a-z')}
        wrong=
        ASKED=$((ASKED + 1))
        # shellcheck disable=SC2086
        "$CORDON" why --json $opts "$word" "$what" >"$T/why" 2>&1
        said=$(field answer)
        saw=$(box "$CORDON" "$opts" "$try" "$what")
        if [ "$said" = allow ]; then
                [ "$saw" = OK ] || wrong="allowed, but the box saw ${saw:-nothing: $(cat "$T/err")}"
        else
                errno=$(sed -n 's/.*"layers":\[[^]]*\],"errno":"\([^"]*\)".*/\1/p' "$T/why")
                other=$(sed -n 's/.*"or":{"errno":"\([^"]*\)".*/\1/p' "$T/why")
                if [ "$saw" != "$errno" ] && { [ -z "$other" ] || [ "$saw" != "$other" ]; }; then
                        wrong="said $errno, the box saw ${saw:-nothing: $(cat "$T/err")}"
                fi
                [ -n "$wrong" ] || [ -z "$HOOKED" ] || try_layers "$2"
        fi
        if [ -z "$wrong" ]; then
                RIGHT=$((RIGHT + 1))
                pass "why is right about: ${opts:-no doors}: $word ${what#"$D"/} ($said${errno:+, $errno})"
        else
                fail "why is right about: ${opts:-no doors}: $word $what" "$wrong" "$(cat "$T/why")"
        fi
        errno=
}
try_layers() {
        layers=$(sed -n 's/.*"layers":\[\([^]]*\)\].*/\1/p' "$T/why" | tr -d '"')
        [ "$layers" != environment ] || return
        first=${layers%%,*} rest=
        case $layers in *,*) rest=${layers#*,} ;; esac
        got=$(out "$layers")
        case $1 in [A-Z]*) [ "$got" != "$saw" ] || [ "$saw" = EACCES ] || wrong="without $layers the answer is the same" ;;
        *) [ "$got" = OK ] || wrong="without $layers it is ${got:-nothing: $(cat "$T/err")}, not OK" ;; esac
        [ -n "$rest" ] || return
        got=$(out "$rest")
        [ "$got" = "$saw" ] || wrong="without $rest it is $got, not $saw: $first does not answer first"
        for layer in $(echo "$layers" | tr ',' ' '); do
                got=$(out "$layer")
                [ "$got" != OK ] || wrong="without $layer alone it succeeds"
        done
}

# --- no doors at all ---
probe "" read "$D/d/f"
probe "" read "$D/d"
probe "" read "$D/d/sub/s"
probe "" read "$D"
probe "" read "$D/d/sub"
probe "" write "$D/d/f"
probe "" write "$D/d/new"
probe "" run "$D/d/prog"
probe "" sock "$D/sock"
probe "" net "127.0.0.1:$PORT"
probe "" env WHY_SECRET
probe "" env HOME
probe "" read /usr/bin/env
probe "" WRITE /usr/new
probe "" WRITE /usr/bin/env
probe "" WRITE /new-at-the-top
probe "" WRITE /etc/new
probe "" WRITE /etc/passwd
probe "" READ /etc/shadow
probe "" READ /dev/kmsg
probe "" run sh
probe "" write /tmp/new
probe "" write /home/box/new
probe "" write /dev/null
probe "" read /proc/self/status
probe "" WRITE /proc/self/comm
probe "" WRITE /proc/thread-self/comm
probe "" WRITE /proc/self/oom_score_adj
probe "" WRITE /proc/thread-self/oom_score_adj
probe "" read /proc/thread-self/status
probe "" run "$OWN" own
probe "" RUN /home/box/own own
# --- a read door ---
probe "--read $D/d" read "$D/d/f"
probe "--read $D/d" read "$D/d"
probe "--read $D/d" read "$D"
probe "--read $D/d" read "$D/w/f"
probe "--read $D/d" write "$D/d/f"
probe "--read $D/d" write "$D/d/new"
probe "--read $D/d" write "$D/new"
probe "--read $D/d" write "$D/w/f"
probe "--read $D/d" run "$D/d/prog"
probe "--read $D/d" sock "$D/sock"
probe "--read $D/d" sock "$D/d/sock"
probe "--read $D/d" net "127.0.0.1:$PORT"
# --- a read door with except ---
probe "-p $T/except" read "$D/d/canary"
probe "-p $T/except" read "$D/d/sub"
probe "-p $T/except" read "$D/d/sub/s"
probe "-p $T/except" read "$D/d/f"
probe "-p $T/except" write "$D/d/f"
probe "-p $T/except" write "$D/d/sub/s"
probe "-p $T/except" write "$D/d/sub/new"
probe "-p $T/except" write "$D/d/sub/in/s"
probe "-p $T/except" run "$D/d/prog"
# A cover answers the same where no observer serves the root, and below a second hidden directory.
mkdir "$D/d/other" && printf 'use base/system\nread %s/d except sub other f\n' "$D" >"$T/excepts"
for observe in denials calls; do
        for what in d/f d/sub/s d/sub/new d/sub/in/s d/other/s; do
                "$CORDON" why --json -p "$T/excepts" write "$D/$what" >"$T/why" 2>&1
                is "$observe: why and the box agree: write $what" \
                        "$(box "$CORDON" "--observe $observe -p $T/excepts" write "$D/$what")" "$(field errno)"
        done
done
"$CORDON" why --json write /proc/self/task/7/comm >"$T/why" 2>&1
is "a thread of its own is named" "$(field answer)" allow
for what in /proc/self/task/07/comm /proc/self/task/7/mem /proc/self/task/comm /proc/self/task//comm /proc/1/comm /proc/self/comm/x; do
        "$CORDON" why --json write "$what" >"$T/why" 2>&1
        is "nothing else in /proc is written: $what" "$(field answer)" deny
done
# --- a write door ---
probe "--write $D/w" write "$D/w/f"
probe "--write $D/w" read "$D/w/f"
probe "--write $D/w" write "$D/d/f"
probe "--write $D/w" run "$D/w/prog"
probe "--write $D/w" run "$D/w/own" own
# --- no `run any` ---
probe "-p $T/norun" read "$D/d/f"
probe "-p $T/norun" run "$D/d/prog"
probe "-p $T/norun" run sh
probe "-p $T/norun" run /usr/bin/env
probe "-p $T/norun" read /usr/bin/env
probe "-p $T/runs" run "$D/d/prog"
probe "--use base/strict" run "$OWN" own
for libc in /usr/lib/*-linux-gnu/libc.so.6; do
        probe "-p $T/norun" run "$libc"
        probe "-p $T/one" read "$libc"
        break
done
# --- sockets and variables with doors of their own ---
probe "--sock $D/sock" sock "$D/sock"
probe "--sock $D/sock" sock "$D/d/sock"
probe "--sock $D/sock" sock "$D/w/sock"
probe "--write $D/w" sock "$D/w/sock"
probe "--read $D/one --sock $D/sock" sock "$D/sock"
probe "--read $D/one --sock $D/sock" sock "$D/d/sock"
probe "--env WHY_SECRET" env WHY_SECRET
probe "--env WHY_SET=1" env WHY_SET
probe "--env WHY_SET=1" env WHY_SECRET
probe "--env WHY_SECRET --wall process" env WHY_SECRET
# --- single files; a door that has closed ---
probe "-p $T/one" read "$D/one"
probe "-p $T/one" write "$D/one"
probe "-p $T/one" sock "$D/sock"
probe "-p $T/old" read "$D/d/f"
probe "-p $T/old" write "$D/d/f"
probe "-p $T/old" run "$D/d/prog"
# --- the process wall, and a layer given up ---
probe "--wall process" read "$D/d/f"
probe "--wall process" read "$D/d"
probe "--wall process" write "$D/d/f"
probe "--wall process" write "$D/d/new"
probe "--wall process" run "$D/d/prog"
probe "--wall process" sock "$D/sock"
probe "--wall process" net "127.0.0.1:$PORT"
probe "--wall process" env WHY_SECRET
probe "--wall process" read "$T/open"
probe "--wall process" read /etc/passwd
probe "--wall process" write /dev/null
probe "--wall process" write /proc/self/comm
probe "--wall process --read $D/d" read "$D/d/f"
probe "--wall process --read $D/d" write "$D/d/f"
probe "--wall process --write $D/w" write "$D/w/f"
is "why names the right answer and layer in $ASKED of $ASKED probes" "$RIGHT" "$ASKED"
ok "there are more than ninety probes" test "$ASKED" -gt 90
done_testing
