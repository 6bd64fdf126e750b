#!/bin/sh
# First touch by covers that ask (FUSE), and without /dev/fuse; a session, tasks that are killed while they wait, attempts to break out.
. "$(dirname "$0")/lib.sh"
mkdir "$T/w" "$T/w/hr" && echo secret >"$T/w/hr/a" && printf '#!/bin/sh\necho ran\n' >"$T/w/tool" && chmod -R a+rX "$T/w" "$T" && chmod 755 "$T/w/tool"
printf 'use base/system\nread %s/hr label private:hr\nread %s/tool label private:tool\nrun any\nrule touch\n' "$T/w" "$T/w" >"$T/policy" && chmod 644 "$T/policy"
ways() { # WHO COMMAND...: the same for every kind of cover
        who=$1
        shift
        while IFS='|' read -r want script; do
                got=$("$@" run -q --time 60s -p "$T/policy" --status-fd 3 -- sh -c "cd $T/w; $script" </dev/null 3>"$T/status" 2>/dev/null | tr '\n' ' ')
                is "$who: $script" "$got$(jq -r '.labels // "none"' "$T/status")" "$want"
        done <<END
none|test -d .
secret private:hr|cat hr/a
private:hr|ls hr/none
ran private:tool|./tool
private:tool|test -x tool
private:hr|cd hr
private:hr|echo x >hr/new
private:hr|echo x >>hr/a
private:hr|mv hr/a hr/b
private:hr|mkdir hr/d
secret ran private:hr private:tool|cat hr/a; ./tool
secret secret private:hr|python3 -c 'import os, subprocess; d = os.open("hr", os.O_PATH | os.O_CREAT | os.O_WRONLY); [print(os.read(os.open("a", 0, dir_fd=d), 6).decode()) for _ in "12"]'
END
}
ways root "$CORDON"
ways user as_user "$CORDON"
if can_hide_fuse; then
        ways "without fuse" without_fuse "$CORDON"
else
        skip "without fuse" "only root can take /dev/fuse away"
fi
[ -w /dev/fuse ] && "$CORDON" run -q -p "$T/policy" -- cat /proc/self/mountinfo >"$T/mounts" && if grep -q ' - fuse ' "$T/mounts"; then
        "$CORDON" run -q -p "$T/policy" -- sh -c "cat $T/w/hr/a $T/w/tool >/dev/null; cat /proc/self/mountinfo" >"$T/mounts"
        is "a cover that was touched is gone" "$(grep "$T/w" "$T/mounts" | grep -c ' - fuse ')" 0
fi

# ---- many at once, some of them killed while they wait ----
"$CORDON" run -q --time 60s -p "$T/policy" --status-fd 3 -- python3 - "$T/w/hr/a" >"$T/out" 3>"$T/status" <<'END'
import os, signal, sys
def child():
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if open(sys.argv[1]).read() == "secret\n" else 1)
        except OSError:
            os._exit(2)
    return pid
pids = [child() for _ in range(40)]
for pid in pids[::2]:
    os.kill(pid, signal.SIGKILL)
ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
print(set(ends[1::2]), set(ends[::2]) <= {0, -9})
END
is "tasks that are killed meanwhile end, the others read" "$(cat "$T/out") $(jq -r .labels "$T/status")" "{0} True private:hr"

# ---- a session ----
id=$("$CORDON" session new -q -p "$T/policy" 2>/dev/null | tail -n 1)
in_session() { "$CORDON" session run "$id" -- sh -c "$1" 2>/dev/null; }
is "a run of a session that touches nothing" "$(in_session 'echo on')" on
is "one that opens a labelled file" "$(in_session "cat $T/w/hr/a")" secret
is "the next has it at once" "$(in_session "cat $T/w/hr/a; grep -c '$T/w/hr .* - fuse' /proc/self/mountinfo")" "secret
0"
"$CORDON" session end "$id" >/dev/null 2>&1
has "the session's ledger has the touch" "$("$CORDON" ledger --json 2>/dev/null | grep '"touched"')" private:hr

# ---- breakout ----
for how in '' --session; do
        # shellcheck disable=SC2086
        "$CORDON" selftest breakout --json -p "$T/policy" $how >"$T/json" 2>"$T/err"
        is "no attempt gets through${how:+, $how}" "$? $(jq -r '[.[] | select(.outcome == "ESCAPED")] | length' "$T/json")" "0 0"
done
done_testing
