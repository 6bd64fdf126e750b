#!/bin/sh
# Resource limits of the payload: none is above the caller's hard limit, none above the policy's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
# limits COMMAND...: "NAME hard" of each limit of the process that the command starts
limits() { "$@" prlimit --raw --noheadings -o RESOURCE,HARD 2>&1 </dev/null; }
# above FILE FILE: names whose hard limit in the second is above the first
above() { awk 'NR == FNR { was[$1] = $2; next } was[$1] != "unlimited" && ($2 == "unlimited" || $2 + 0 > was[$1] + 0) { print $1, was[$1], $2 }' "$1" "$2"; }
command -v prlimit >/dev/null || { skip "resource limits" "prlimit is not installed"; done_testing; }
for who in root as_user; do
        limits $who >outside
        ok "$who: limits are read outside ($(wc -l <outside))" test "$(wc -l <outside)" -ge 15
        for wall in namespace process; do
                limits $who "$CORDON" run -q --wall $wall -- >inside
                is "$who, $wall: as many inside" "$(wc -l <inside)" "$(wc -l <outside)"
                is "$who, $wall: none is raised" "$(above outside inside)" ""
                limits $who "$CORDON" run -q --wall $wall --files 77 --cpu 30s -- >inside
                is "$who, $wall: open files are the policy's" "$(awk '$1 == "NOFILE" { print $2 }' inside)" 77
                # At 0 the kernel still starts a program that core_pattern names, as root; at 1 it does not.
                [ "$(awk '$1 == "CORE" { print $2 }' outside)" = 0 ] || is "$who, $wall: core files are off by the value that starts no helper either" "$(awk '$1 == "CORE" { print $2 }' inside)" 1
                is "$who, $wall: cpu seconds are the policy's" "$(awk '$1 == "CPU" { print $2 }' inside)" 31
        done
done
# Signals that wait are counted for the account: a box has a share of what it may have.
for wall in namespace process; do
        is "$wall: a quarter of the signals that may wait" "$(prlimit --sigpending=4000:4000 "$CORDON" run -q --wall $wall -- prlimit --raw --noheadings -o HARD --sigpending 2>&1 </dev/null)" 1000
done
# What else of the machine is not a box's to take, however much its caller may: memory that stays, queues, and precedence.
much() { prlimit --memlock=unlimited --msgqueue=unlimited --rtprio=50 --nice=30 "$@"; }
if much true 2>/dev/null; then
        for wall in namespace process; do
                limits much "$CORDON" run -q --wall $wall -- >inside
                is "$wall: a caller with much gives little" "$(awk '$1 ~ /^(MEMLOCK|MSGQUEUE|RTPRIO|NICE)$/ { print $1 "=" $2 }' inside | sort | paste -s -d ' ')" "MEMLOCK=8388608 MSGQUEUE=1048576 NICE=0 RTPRIO=0"
        done
else
        skip "a caller with much gives little" "this account may not have much"
fi
# Behind a write door nobody counts what lies there; one file is as large as `disk` says, and no larger.
mkdir -m 777 written
for who in root as_user; do
        for wall in namespace process; do
                rm -f written/large
                $who "$CORDON" run -q --wall $wall --disk 1M --write "$T/written" -- sh -c "head -c 3000000 /dev/zero >$T/written/large" >/dev/null 2>&1 </dev/null
                is "$who, $wall: a file behind a write door ends at the limit of the disk" "$(wc -c <written/large)" 1048576
        done
done
# A caller with little gives no more than it has: every limit that a shell can lower, far below the policy's.
cat >little <<'END'
#!/bin/sh
ulimit -n 60 && ulimit -f 2000 && ulimit -c 0 && ulimit -l 16 && ulimit -t 20 || exit 1
exec "$@"
END
chmod 755 little
for who in root as_user; do
        limits $who ./little >outside
        is "$who: the caller's limits are little" "$(awk '$1 == "NOFILE" { print $2 }' outside)" 60
        for wall in namespace process; do
                limits $who ./little "$CORDON" run -q --wall $wall --files 4000 --cpu 1h -- >inside
                is "$who, $wall: a caller with little gives no more" "$(above outside inside)" ""
                is "$who, $wall: open files stay the caller's" "$(awk '$1 == "NOFILE" { print $2 }' inside)" 60
        done
done
# Files that may not grow (RLIMIT_FSIZE): cordon itself does not die of its ledger's, and says what was not recorded.
for who in root as_user; do
        $who "$CORDON" run -q -- true </dev/null
        size=$(wc -c <"$(state_of $who)/ledger/segments/00000001.seg")
        $who prlimit --fsize="$size" "$CORDON" run --status-fd 1 -- sh -c 'exit 3' 2>err </dev/null | cat >result
        is "$who: a ledger that may not grow ends no run" "$(jq -r '"\(.end) \(.exit)"' result)" "exited 3"
        has "$who: and the result says that it was not recorded" "$(jq -r .ledger result)" "File too large"
        ok "$who: what was recorded before verifies" $who "$CORDON" ledger verify
        echo bytes >given && chmod 644 given
        is "$who: a handle that may not be copied is told" "$($who prlimit --fsize=2 "$CORDON" run --ledger off --in a --handle a="$T/given" -- true 2>&1 </dev/null; echo $?)" "cordon: error: reading the handle a: File too large
125"
done
done_testing
