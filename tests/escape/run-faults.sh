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
groups() { find /sys/fs/cgroup -maxdepth 2 -name 'cordon-*' 2>/dev/null | sort; }
before=$(groups)
runs=0 whole=0 refused=0
# try CALL WHEN ERROR: judges one start
try() {
        rm -f "$T/status"
        out=$(timeout -k 1 5 strace -f -qq -o /dev/null -e trace="$1" -e inject="$1:error=$3:when=$2" \
                "$CORDON" run -q --status-fd 3 --wall namespace -- /bin/echo RAN 3>"$T/status" 2>"$T/err" </dev/null)
        code=$?
        runs=$((runs + 1))
        case $code:$out in
        0:RAN)
                whole=$((whole + 1))
                [ "$(jq -r .attested "$T/status" 2>/dev/null)" = true ] || echo "$1 #$2 $3: ran, but not attested" ;;
        0: | 124:* | *:RAN)
                echo "$1 #$2 $3: code $code, said <$out>: $(head -n 1 "$T/err")" ;;
        *)
                refused=$((refused + 1))
                grep -q 'cordon: error:' "$T/err" || echo "$1 #$2 $3: code $code without a word" ;;
        esac
}
# Not here: read, write, poll and the like, whose failure after the start is the payload's own business; exit; execve of strace.
walls="clone3 unshare setns mount umount2 pivot_root fsopen fsmount move_mount open_tree mount_setattr seccomp
landlock_create_ruleset landlock_add_rule landlock_restrict_self capset prctl setresuid setresgid setsid close_range dup2
pipe2 socketpair mkdirat openat2"
for call in $walls; do
        for when in 1 3; do
                case $((when % 3)) in 0) error=ENOMEM ;; 1) error=EPERM ;; *) error=EMFILE ;; esac
                try "$call" "$when" "$error" >>"$T/wrong"
        done
        try "$call" 1 EINTR >>"$T/wrong"
done
for call in clone3 fsmount mkdirat openat2; do
        try "$call" 1 ENOSPC >>"$T/wrong"
done
is "a failing system call never lowers a wall ($runs starts: $whole whole, $refused refused)" "$(head -n 20 "$T/wrong")" ""
ok "faults were really injected" test "$refused" -gt 20
ok "and not every fault is fatal" test "$whole" -gt 5
for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(groups)" = "$before" ] && break
        sleep 0.2
done
is "no control group is left by any of them" "$(groups)" "$before"
done_testing
