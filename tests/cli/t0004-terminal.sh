#!/bin/sh
# -t: a terminal of the box's own. Size, resize, job control, Ctrl-C, TIOCSTI, and the caller's terminal afterwards.
# shellcheck disable=SC2016,SC2086,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cc -O1 -o "$T/term" "$here/helpers/term.c" -lutil || { fail "the terminal compiles"; done_testing; }
chmod 755 "$T/term"
compile probe
root() { "$@"; }
# on SCRIPT ARGUMENT...: runs cordon on a terminal of 33 rows and 101 columns; all it wrote is in out, without CR
on() {
        script=$1
        shift
        printf '%b' "$script" | $who env TERM=xterm "$T/term" 33 101 "$@" | tr -d '\r' >out
}
esc=$(printf '\033')
for who in root as_user; do
        # What a box left the terminal in does not hide what is said about it.
        on 'wait\n' "$CORDON" run --time 2s -- sh -c 'printf "\033[?1049h\033[8m\033(0x"; sleep 9'
        is "$who: words of cordon's begin on a line of their own, in letters that can be read" "$(grep -c "$esc\[8m$esc(0x.*$esc\\\\$esc\[?47l.*$esc\[0m$esc(B" out) $(grep -c '^cordon: limit' out)" "1 1"
        has "$who: nor do lines of it cover each other: all of the screen scrolls again" "$(cat out)" "${esc}7${esc}[r${esc}8"
        has "$who: nor does anything stand beside them" "$(sed -n "/$esc(B/p" out)" "${esc}[J"
        on 'wait\n' "$CORDON" run -- printf 'x'
        is "$who: where nothing is said, nothing is added" "$(grep -c "$esc" out)" 0
        printf 'wait\n' | $who env TERM=dumb "$T/term" 33 101 "$CORDON" run --time 2s -- sh -c 'printf x; sleep 9' | tr -d '\r' >out
        is "$who: nor to a terminal that knows no escapes, but a line" "$(grep -c "$esc" out) $(grep -c '^cordon: limit' out)" "0 1"
        $who env TERM=xterm "$CORDON" run --time 2s -- sh -c 'printf x >&2; sleep 9' 2>err </dev/null
        is "$who: nor to what is no terminal" "$(grep -c "$esc" err) $(grep -c '^cordon: limit' err)" "0 1"
        for wall in namespace process; do
                as="$who, $wall"
                t="$CORDON run -q --wall $wall --time 15s -t --"
                on 'wait\n' $t sh -c 'test -t 0 && test -t 1 && test -t 2 && echo IS-A-TTY; stty size'
                has "$as: -t is a terminal on all three" "$(cat out)" IS-A-TTY
                has "$as: of the caller's size" "$(cat out)" "33 101"
                has "$as: the status is the payload's" "$(cat out)" "STATUS 0"
                has "$as: the caller's terminal is as before" "$(cat out)" COOKED
                on 'wait\n' $t sh -c 'exit 9'
                has "$as: a status of 9" "$(cat out)" "STATUS 9"
                on 'expect ready\nsend hello world\\n\nwait\n' $t sh -c 'echo ready; read -r line; echo "got <$line>"'
                has "$as: what is typed is read" "$(cat out)" "got <hello world>"
                on 'expect ready\nsend secret\\n\nwait\n' $t sh -c 'echo ready >/dev/tty; read -r line </dev/tty; echo "got <$line>"' </dev/null
                has "$as: /dev/tty is that terminal, to write and to read" "$(cat out)" "got <secret>"
                on 'wait\n' $t sh -c 'setsid sh -c "echo x >/dev/tty && echo REACHED"'
                hasnt "$as: and of another session no terminal at all" "$(cat out)" REACHED
                on 'expect ready\nresize 12 34\nexpect 12 34\nsend x\\n\nwait\n' $t sh -c 'trap "stty size" WINCH; echo ready; while ! read -r line; do :; done'
                has "$as: a resize is seen" "$(cat out)" "12 34"
                hasnt "$as: nothing was missed" "$(cat out)" MISSING
                on 'expect ready\npause 150\nsend \\003\nwait\n' $t sh -c 'echo ready; sleep 10; echo NOT-REACHED'
                has "$as: Ctrl-C ends the payload" "$(cat out)" "STATUS 130"
                hasnt "$as: at once" "$(cat out)" NOT-REACHED
                on 'expect ready\npause 150\nsend \\003\nwait\n' $t sh -c 'trap "echo TRAPPED; exit 4" INT; echo ready; while :; do sleep 0.1; done'
                has "$as: Ctrl-C can be trapped" "$(cat out)" TRAPPED
                has "$as: then the status is the trap's" "$(cat out)" "STATUS 4"
                has "$as: the terminal is restored after Ctrl-C" "$(cat out)" COOKED
                on 'expect ready\nsend \\004\nwait\n' $t sh -c 'echo ready; cat; echo END'
                has "$as: Ctrl-D ends the input" "$(cat out)" END
                # The job itself says that it is there: by then the terminal is its.
                on 'expect $\nsend (echo g""o; exec sleep 100)\\n\nexpect go\nsend \\032\nexpect topped\nsend kill -KILL %1\\n\npause 300\nsend echo job-control-works\\n\nexpect job-control-works\nsend disown -a; exit 5\\n\nwait\n' \
                        $t bash --norc --noprofile -i
                has "$as: job control: Ctrl-Z stops a job" "$(cat out)" Stopped
                hasnt "$as: job control: all was seen" "$(cat out)" MISSING
                has "$as: job control: and the shell's status is ours" "$(cat out)" "STATUS 5"
                on 'wait\n' $t "$T/probe"
                has "$as: TIOCSTI is refused on it" "$(grep '^tiocsti ' out)" E
                has "$as: with the high bit too" "$(grep '^tiocsti-high ' out)" E
                has "$as: nothing was typed into the caller's terminal" "$(cat out)" "PENDING 0"
                on 'wait\n' $t sh -c 'sleep 20 & exit 3'
                has "$as: a background job does not hold up the end" "$(cat out)" "STATUS 3"
                on 'wait\n' "$CORDON" run -q --wall $wall -t --time 500ms -- sleep 20
                has "$as: the time limit ends it" "$(cat out)" "STATUS 124"
                has "$as: and the terminal is restored" "$(cat out)" COOKED
                on 'wait\n' "$CORDON" run -q --wall $wall -t --read /no/such/door -- true
                has "$as: a start that fails gives 125" "$(cat out)" "STATUS 125"
                has "$as: and restores the terminal" "$(cat out)" COOKED
                # --- on a terminal, but with -T ---
                on 'wait\n' "$CORDON" run -q -T --wall $wall -- sh -c 'test -t 0 || test -t 1 || test -t 2 || echo NO-TTY; tty'
                has "$as: with -T there is none" "$(cat out)" NO-TTY
                on 'wait\n' "$CORDON" run -q -T --wall $wall -- "$T/probe"
                has "$as: with -T, TIOCSTI is refused" "$(grep '^tiocsti ' out)" E
                has "$as: with -T, nothing is typed into the caller's terminal" "$(cat out)" "PENDING 0"
                on 'wait\n' "$CORDON" run -q -T --wall $wall -- sh -c 'echo x >/dev/tty && echo REACHED'
                hasnt "$as: with -T, /dev/tty is not the caller's" "$(cat out)" REACHED
                on 'expect ready\npause 150\nsend \\003\nwait\n' "$CORDON" run -q -T --wall $wall --time 15s -- sh -c 'echo ready; sleep 10'
                has "$as: with -T, Ctrl-C ends the payload" "$(cat out)" "STATUS 130"
                # --- a terminal is the default on one ---
                on 'wait\n' "$CORDON" run -q --wall $wall -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo OWN-TTY'
                has "$as: on a terminal the box has its own" "$(cat out)" OWN-TTY
                on 'wait\n' "$CORDON" run -q -it --wall $wall -- sh -c 'test -t 0 && echo OWN-TTY'
                has "$as: -it as docker has it" "$(cat out)" OWN-TTY
        done
        on 'wait\n' "$CORDON" run -q -t --files 500 -- perl -e 'push @t, $f while @t < 300 and open($f = undef, "+<", "/dev/pts/ptmx"); print "HAS ", scalar(@t), " MORE\n"'
        is "$who: a box has 64 terminals, and leaves the machine the others" "$(grep -o 'HAS .*' out)" "HAS 63 MORE"
        on 'wait\n' "$CORDON" run -q -t -- sh -c 'echo $TERM; ls /dev/pts; echo x >/dev/tty'
        has "$who: TERM is the caller's with -t" "$(cat out)" xterm
        $who "$CORDON" run -t -- true >o 2>err </dev/null
        is "$who: -t without a terminal gives 125" $? 125
        has "$who: and says so" "$(cat err)" terminal
        # The keeper killed: the caller's shell finds its terminal usable.
        on 'expect ready\nwait\n' sh -c '"$0" run -q -t -- sh -c "echo ready; sleep 5" & sleep 0.5; kill -TERM $!; wait $!' "$CORDON"
        has "$who: after TERM the terminal is restored" "$(cat out)" COOKED
done
done_testing
