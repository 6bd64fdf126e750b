# One system call fails during a start, each kind in turn, at each of its first uses, with several errors (strace injects them).
# The promise: either a whole box, attested, or a clear error; never a command without its walls, and no debris.
. "$(dirname "$0")/../cli/lib.sh"
if ! command -v strace >/dev/null; then
        skip "a failing system call never lowers a wall" "strace is not installed"
        done_testing
fi
if ! strace -f -o /dev/null true 2>/dev/null; then
        skip "a failing system call never lowers a wall" "strace may not trace here"
        done_testing
fi
before=$(orphans)
# try CALL WHEN ERROR: judges one start, in the files of its lane; prints one word, or what is wrong
try() {
        out=$(CORDON_STATE=$T/state.$lane timeout -k 1 60 strace -f -qq -o /dev/null -e trace="$1" -e inject="$1:error=$3:when=$2" \
                "$CORDON" run -q --status-fd 3 --wall namespace -- /bin/echo RAN 3>"$T/status.$lane" 2>"$T/err.$lane" </dev/null)
        code=$?
        case $code:$out in
        0:RAN)
                [ "$(jq -r .attested "$T/status.$lane" 2>/dev/null)" = true ] && echo whole || echo "$1 #$2 $3: ran, but not attested" ;;
        0: | 124:* | *:RAN)
                echo "$1 #$2 $3: code $code, said <$out>: $(head -n 1 "$T/err.$lane")" ;;
        *)
                grep -q 'cordon: error:' "$T/err.$lane" && echo refused || echo "$1 #$2 $3: code $code without a word" ;;
        esac
}
# Not here: read, write, poll and the like, whose failure after the start is the payload's own business; exit; execve of strace.
walls="clone clone3 unshare setns mount umount2 pivot_root fsopen fsmount move_mount open_tree mount_setattr seccomp
landlock_create_ruleset landlock_add_rule landlock_restrict_self capset prctl setresuid setresgid setsid close_range dup2
pipe2 socketpair mkdirat openat2"
for call in $walls; do
        echo "$call 1 EPERM"
        echo "$call 3 ENOMEM"
        echo "$call 1 EINTR"
done >"$T/cases"
for call in clone3 fsmount mkdirat openat2; do
        echo "$call 1 ENOSPC"
done >>"$T/cases"
# Six lanes: strace waits for the ledger's sealer, which stays two seconds after each start. Each has a ledger of its own:
# a sealer that others keep busy would stay longer.
for lane in 0 1 2 3 4 5; do
        awk "NR % 6 == $lane" "$T/cases" | while read -r call when error; do try "$call" "$when" "$error"; done >"$T/said.$lane" &
done
wait
cat "$T"/said.* >"$T/said"
runs=$(wc -l <"$T/said") whole=$(grep -c -x whole "$T/said") refused=$(grep -c -x refused "$T/said")
is "a failing system call never lowers a wall ($runs starts: $whole whole, $refused refused)" "$(grep -v -x -e whole -e refused "$T/said" | head -n 20)" ""
is "each of them was tried" "$runs" "$(wc -l <"$T/cases")"
ok "faults were really injected" test "$refused" -gt 20
ok "and not every fault is fatal" test "$whole" -gt 5
ok "no control group is left by any of them" none_left
# What epoll watches is counted for the account: who has taken all of it does not bring anybody to a lower wall.
timeout -k 1 60 strace -f -qq -o /dev/null -e trace=epoll_ctl -e inject=epoll_ctl:error=ENOSPC:when=1 "$CORDON" run --net 127.0.0.1:1 -- true 2>"$T/err" </dev/null
has "a broker that cannot watch says whose the shortage is" "$(cat "$T/err")" max_user_watches
hasnt "and proposes no other wall" "$(cat "$T/err")" "--wall"
# An answer of the observer's that is lost would be waited for by a task that nobody can kill.
if [ -w /dev/fuse ]; then
        wrong=''
        for n in 2 4 8 16; do
                timeout -k 1 30 strace -f -qq -o "$T/trace" -P /dev/fuse -e trace=write -e inject=write:error=ENOMEM:when=$n "$CORDON" run --ledger off --wall namespace -- /bin/ls / >"$T/out" 2>"$T/err" </dev/null
                case $? in 124 | 137) wrong="$wrong $n: $(head -n 1 "$T/err")" ;; esac
                grep -q INJECTED "$T/trace" || wrong="$wrong $n: nothing was injected"
        done
        is "an answer that the observer could not give holds nobody up" "$wrong" ""
else
        skip "an answer that the observer could not give holds nobody up" "/dev/fuse is not for us"
fi
# What we lack descriptors for is not what is not there: a door is not left out for that.
mkdir "$T/door" && echo shown >"$T/door/file" && echo hidden >"$T/door/.env" && chmod -R a+rX "$T/door"
lacking() { timeout -k 1 60 strace -f -qq -o /dev/null -P "$1" -e trace="?open,openat" -e inject="?open,openat":error=EMFILE:when=1 "$CORDON" run -q --ledger off "$2" "$3" --read "$4" -- /bin/echo RAN 2>"$T/err" </dev/null; }
is "a door that may be missing is not missing for want of descriptors" "$(lacking "$T/door" --wall namespace "$T/door?"; echo $?)" 125
has "which is told" "$(cat "$T/err")" "cordon: error: looking at $T/door: "
cat >"$T/policy" <<END
box faults
use base/system
run echo
read $T/door except .env
END
out=$(timeout -k 1 60 strace -f -qq -o /dev/null -P "$T/door" -e trace="?open,openat" -e inject="?open,openat":error=EMFILE:when=2 "$CORDON" run -q --ledger off --wall process -p "$T/policy" -- /bin/echo RAN 2>"$T/err" </dev/null)
is "nor is a file of one, behind the process wall" "$?:$out:$(grep -c "finding $T/door/[.a-z]* for Landlock: " "$T/err")" 125::1
# Where the wall is cordon's choice, a want that passes with time must not choose the lower one.
for error in EAGAIN ENOMEM ENFILE EMFILE EINTR; do
        out=$(as_user timeout -k 1 60 strace -f -qq -o /dev/null -e trace=clone,clone3 -e inject=clone,clone3:error=$error:when=1 "$CORDON" run -q --ledger off -- /bin/echo RAN 2>"$T/err" </dev/null)
        is "$error at the first process is no reason for the process wall" "$?:$out:$(grep -c "making the box's first process" "$T/err")" 125::1
done
done_testing
