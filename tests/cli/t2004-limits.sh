#!/bin/sh
# Every limit ends or bounds a run, names itself, and leaves nothing behind.
# alone: limits that bite in time, and processes of one user that are counted.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile hog

root() { "$@"; }
# run ARGUMENT...: as $who; output in out, result in status, exit code in $code, milliseconds in $ms
run() {
        began=$(date +%s%N)
        $who "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null
        code=$?
        ms=$((($(date +%s%N) - began) / 1000000))
        jq -r '.run // empty' <status >>ids
}
get() { jq -r "$1" <status 2>&1; }
# in_time MS ARGUMENT...: the same; again when it took longer, up to five times: what others do to the machine is not ours
in_time() {
        most=$1
        shift
        for _ in 1 2 3 4 5; do
                run "$@"
                [ "$ms" -gt "$most" ] || break
        done
}
# within NAME LOW HIGH: $ms lies between
within() { ok "$who: $1 ($ms ms)" test "$ms" -ge "$2" -a "$ms" -le "$3"; }
# Control groups of the runs so far; other tests may have theirs.
grouped() { [ "$who" = root ] && [ "$(id -u)" -eq 0 ]; }
groups() { find /sys/fs/cgroup -name 'cordon-*' 2>/dev/null | grep -c -F -f ids; }

for who in root as_user; do
        # --- time ---
        in_time 800 --time 500ms -- sleep 10
        is "$who: time: 124" $code 124
        is "$who: time: is the limit" "$(get .limit)" time
        has "$who: time: is among the limits that were hit" "$(get '.limits_hit|join(" ")')" time
        within "time fires when it should" 490 800
        in_time 800 --time 500ms -- sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done'
        is "$who: time: a payload that ignores signals ends too" "$(get .limit)" time
        within "time fires for it when it should" 490 800
        run --time 500ms -- sh -c 'kill -STOP $$; sleep 10'
        is "$who: time: a payload that stopped itself ends too" "$(get .limit)" time
        run --time 900ms -- "$T/hog" cpu 6 2
        ok "$who: time: what was used until then is told ($(get .cpu_ms) ms, $(get .memory_peak) bytes)" test "$(get '.limit == "time" and .cpu_ms >= 100 and .memory_peak > 0')" = true
        run --time 500ms -- sh -c 'sleep 20 & sleep 20 & wait'
        is "$who: time: children end with it" "$(get .limit)" time
        run --time 5s -- sleep 0.1
        is "$who: time: a run within it is not touched" $code 0
        is "$who: time: no limit was hit" "$(get '.limits_hit|length')" 0

        # --- cpu ---
        run --cpu 500ms --time 8s -- "$T/hog" cpu 6
        is "$who: cpu: 124" $code 124
        is "$who: cpu: is the limit" "$(get .limit)" cpu
        ok "$who: cpu: was counted ($(get .cpu_ms) ms)" test "$(get '.cpu_ms >= 450 and .cpu_ms <= 1000')" = true
        run --cpu 500ms --time 8s -- "$T/hog" cpu 6 4
        is "$who: cpu: several processes share it" "$(get .limit)" cpu
        ok "$who: cpu: their sum was counted ($(get .cpu_ms) ms)" test "$(get '.cpu_ms >= 450 and .cpu_ms <= 1000')" = true
        run --cpu 700ms --time 10s --read "$T/hog" -- sh -c 'while :; do '"$T/hog"' files 1 >/dev/null; done'
        is "$who: cpu: a chain of short processes shares it" "$(get .limit)" cpu
        # A signal that the payload sent itself is no limit.
        for signal in XCPU XFSZ; do
                run -- sh -c "kill -$signal \$\$"
                is "$who: $signal from itself: a signal, and no limit" "$(get '"\(.end) \(.limit) \(.limits_hit|length)"')" "signaled null 0"
        done
        run --cpu 1s --time 8s -- sleep 1.2
        is "$who: cpu: sleeping costs none" $code 0
        ok "$who: cpu: it is near zero ($(get .cpu_ms) ms)" test "$(get '.cpu_ms < 200')" = true

        # --- memory ---
        in_time 1999 --memory 32M --time 8s -- "$T/hog" memory 200
        # Where init samples, a quick one may have touched all of it by the next look; it is ended then.
        ! grouped || hasnt "$who: memory: 200M do not fit in 32M" "$(cat out)" touched
        is "$who: memory: names itself" "$(get '.limit == "memory" or (.limits_hit|index("memory")) != null or .exit == 3')" true
        ! grouped || is "root: memory: is the limit" "$(get .limit)" memory
        ! grouped || is "root: memory: 124" $code 124
        ! grouped || is "root: memory: kept by a control group" "$(get .kept_by.memory)" cgroup
        ! grouped || ok "$who: memory: the peak is plausible ($(get .memory_peak))" test "$(get '.memory_peak <= 36*1048576')" = true
        ok "$who: memory: within two seconds ($ms ms)" test $ms -lt 2000
        run --memory 64M --time 8s -- "$T/hog" memory 25 6
        is "$who: memory: six processes share it" "$(get .limit)" memory
        is "$who: memory: shared, 124" $code 124
        run --memory 64M --time 8s -- "$T/hog" tables 300
        is "$who: memory: tables of pages that are empty are memory too" "$(get .limit)$(grep -c touched out)" memory0
        in_time 3000 --memory 64M --time 8s --read "$T/hog" -- sh -c "sleep 2; exec $T/hog memory 25 6"
        is "$who: memory: also when the box rested before" "$(get .limit)" memory
        within "memory fires out of rest as soon" 2000 3000
        run --memory 256M --time 20s --read "$T/hog" -- sh -c "$T/hog memory 50 >/tmp/said & until [ -s /tmp/said ]; do sleep 0.1; done; sleep 0.5; kill \$!; exit 6"
        is "$who: memory: a run within it is not touched" $code 6
        ok "$who: memory: the peak was seen ($(get .memory_peak))" test "$(get '.memory_peak >= 40*1048576 and .memory_peak <= 120*1048576')" = true

        # --- procs ---
        run --procs 20 --time 8s -- "$T/hog" procs 60
        ok "$who: procs: no more than 20 were made ($(cat out))" test "$(cut -d' ' -f1 out)" -le 20
        ok "$who: procs: but most of them ($(cat out))" test "$(cut -d' ' -f1 out)" -ge 17
        has "$who: procs: the next one gets EAGAIN" "$(cat out)" EAGAIN
        is "$who: procs: is the limit that was hit, by a program that fails at once" "$code $(get '.limits_hit|join(" ")')" "1 procs"
        run --procs 20 --time 8s -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do sleep 5 & done; exit 1'
        is "$who: procs: one that fails with one to spare hit nothing" "$code $(get '.limits_hit|length')" "1 0"
        in_time 2999 --procs 20 --time 1s --cpu 3s -- sh -c 'b() { b | b & }; b; sleep 5'
        ok "$who: procs: a fork bomb ends ($code, $ms ms)" test $ms -lt 3000

        # --- files ---
        run --limit 'files 20' -- "$T/hog" files 50
        is "$who: files: 20 descriptors with the standard three" "$(cat out)" "17 EMFILE"
        [ -n "$(get '.limits_hit[]')" ] || ok "$who: files: the manual says that one that ends at once may be missed" \
                grep -q '^A process that uses all its descriptors and exits at once may be missed' "$here/../../man/cordon.policy.5"
        fill='import time; held = [open("/dev/null") for i in range(17)]; time.sleep(0.5)'
        if [ "$(stat -c %s /proc/self/fd)" -gt 0 ]; then
                run --limit 'files 20' --time 8s -- python3 -c "$fill"
                is "$who: files: who has all of them in use is told" "$(get '.limits_hit|join(" ")')" files
                run --limit 'files 21' --time 8s -- python3 -c "$fill"
                is "$who: files: and who has one left is not" "$(get '.limits_hit|length')" 0
        else
                skip "$who: files: who has all of them in use is told" "this kernel does not count them (Linux 6.2)"
        fi

        is "$who: files: too few for the start are refused by name" "$($who "$CORDON" run --limit 'files 4' -- true 2>&1 | head -n 1)" \
                "cordon: error: limit files 4: the box's streams and handles and the probe from inside need 5"
        run --limit 'files 5' -- "$T/hog" files 1
        is "$who: files: as many as it needs will do" "$code $(cat out)" "0 1 all"
        run --limit 'files 6' --in a --out b --handle a=/dev/null --handle b=/dev/null -- "$T/hog" files 1
        is "$who: files: handles count" $code 125

        # --- disk ---
        run --disk 4M --time 8s -- "$T/hog" disk /tmp/x 3
        is "$who: disk: 3M fit in 4M" "$(cat out)" all
        is "$who: disk: nothing was hit" "$(get '.limits_hit|length')" 0
        run --disk 4M --time 8s --read "$T/hog" -- sh -c "trap '' XFSZ; $T/hog disk /tmp/x 3; $T/hog disk /tmp/y 3"
        is "$who: disk: two times 3M do not fit" "$(tail -n 1 out)" ENOSPC
        has "$who: disk: is among the limits that were hit" "$(get '.limits_hit|join(" ")')" disk
        run --disk 4M --time 8s --read "$T/hog" -- sh -c "trap '' XFSZ; $T/hog disk /tmp/x 3; $T/hog disk ~/y 3; rm /tmp/x ~/y"
        has "$who: disk: /tmp and home share it" "$(tail -n 1 out)" ENOSPC
        run --disk 4M --time 8s --read "$T/hog" -- sh -c "trap '' XFSZ; $T/hog disk /tmp/x 3; $T/hog disk /dev/shm/y 3"
        has "$who: disk: /dev/shm shares it" "$(tail -n 1 out)" ENOSPC
        run --disk 4M --time 8s -- "$T/hog" disk /tmp/x 8
        ok "$who: disk: one file over it is stopped ($(cat out) $code)" test "$(cat out)" != all
        has "$who: disk: that names itself" "$(get '.limits_hit|join(" ")')" disk
        run --disk 4M --time 8s -- "$T/hog" inodes /tmp 100000
        is "$who: disk: empty files count too" "$(cat out)" ENOSPC
        has "$who: disk: and name themselves" "$(get '.limits_hit|join(" ")')" disk

        # --- output ---
        run --output 1M --time 8s -- "$T/hog" output 4
        is "$who: output: 124" $code 124
        is "$who: output: is the limit" "$(get .limit)" output
        is "$who: output: cut exactly there" "$(wc -c <out)" 1048576
        is "$who: output: was counted" "$(get .output_bytes)" 1048576
        is "$who: output: it says so" "$(get .output_truncated)" true
        run --output 1M --time 8s --read "$T/hog" -- sh -c "$T/hog output 1"
        is "$who: output: what just fits is not cut" $code 0
        is "$who: output: and complete" "$(wc -c <out)" 1048576
        run --output 100K --time 8s --read "$T/hog" -- sh -c "$T/hog output 1 >&2"
        is "$who: output: standard error counts" "$(get .limit)" output
        run --output 100K --time 8s -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; while :; do echo yes; done'
        ok "$who: output: what was used until then is told ($(get .cpu_ms) ms, $(get .memory_peak) bytes)" test "$(get '.limit == "output" and .cpu_ms >= 20 and .memory_peak > 0')" = true
        is "$who: output: no control group is left" "$(groups)" 0
done

# --- what is not kept by control groups is said, or refused ---
who=root
if grouped; then
        run --require-limit -- true
        is "root: --require-limit starts" $code 0
        is "root: procs are kept by a control group" "$(get .kept_by.procs)" cgroup
else
        skip "root: --require-limit starts" "needs root"
fi
who=as_user
run --require-limit -- true
if [ -w /sys/fs/cgroup/cgroup.procs ] && [ "$(id -u)" -ne 0 ]; then
        skip "an ordinary user's --require-limit is refused" "this user may make control groups"
else
        is "an ordinary user's --require-limit is refused" $code 125
        hasnt "and the hint promises no limits that it has refused" "$(cat err)" "fall back"
        has "with an error" "$(cat err)" 'cordon: error:'
        has "and a hint" "$(cat err)" 'cordon: hint:'
        run -- true
        is "without it the weaker keeping is in the result" "$(get .kept_by.memory)" sampling
        is "and the layer cgroup is not claimed" "$(get '.layers|index("cgroup")')" null
fi
run --memory 100M --wall 'namespace without cgroup' -- perl -e 'my $x; vec($x, 92 << 20, 8) = 1; select undef, undef, undef, 0.3'
is "who comes near to its memory and ends well has hit no limit" "$code $(get '"\(.end) \(.limit)"')" "0 exited null"
# Without groups memory is what is resident: no limit of the address space, which java, chromium and bun fill with reservations.
cat >reserve.py <<'END'
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
NONE, WRITE, FLAGS = 0, 3, 0x4022  # PROT_READ | PROT_WRITE; MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
for size, prot in (64 << 30, NONE), (8 << 30, WRITE):
    print(libc.mmap(None, ctypes.c_size_t(size), prot, FLAGS, -1, 0) not in (None, ctypes.c_void_p(-1).value))
END
for wall in namespace process; do
        run --memory 100M --wall "$wall without cgroup" --read "$T/reserve.py" -- python3 "$T/reserve.py"
        is "$wall: 64G reserved and 8G not touched live within 100M" "$code $(paste -s -d ' ' out) $(get '.limits_hit|length')" "0 True True 0"
        run --memory 100M --wall "$wall without cgroup" -- prlimit --raw --noheadings -o HARD --as --data
        is "$wall: no limit of the address space" "$(sort -u out)" "$(prlimit --raw --noheadings -o HARD --as --data | sort -u)"
        # Too short for a look, maybe; then the kernel's own figure of the largest process names it.
        run --memory 32M --time 20s --wall "$wall without cgroup" -- perl -e 'my $x; vec($x, 300 << 20, 8) = 1'
        is "$wall: who passes it and ends at once is named" "$(get '.limits_hit|join(" ")')" memory
done
if [ "$(awk 'NR > 1 { n += $3 - $4 } END { print n + 0 }' /proc/swaps)" -gt 400000 ]; then
        cat >swap.py <<'END'
import ctypes, mmap, time
held = []
for i in range(20):
    m = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.write(b"x" * (16 << 20))
    m.madvise(21)  # MADV_PAGEOUT
    held.append(m)
    time.sleep(0.1)
print("held")
END
        run --memory 100M --time 60s --wall 'namespace without cgroup' --read "$T/swap.py" -- python3 "$T/swap.py"
        is "memory that is swapped out counts" "$(get .limit)$(cat out)" memory
else
        skip "memory that is swapped out counts" "this host has no swap to spare"
fi
for bad in 'time 0' 'memory -1' 'memory 1X' 'procs 0' 'time 99999999999999999999s' 'nonsense 3' 'memory'; do
        run --limit "$bad" -- true
        is "limit $bad is refused" $code 125
done
# A neighbour of the same user goes on while a box hits its limits.
as_user sh -c 'echo $$; exec sleep 30' >neighbour & # $! is a shell's, which runs our function
shell=$!
soon test -s neighbour
neighbour=$(cat neighbour)
who=as_user
run --procs 20 --time 1s -- sh -c 'b() { b | b & }; b; sleep 5'
ok "a neighbour of the same user lives on" kill -0 $neighbour
ok "and the same user can start programs" as_user true
kill $neighbour
wait $shell 2>/dev/null
# Boxes of one user do not eat each other's processes.
as_user "$CORDON" run -q --procs 20 --time 10s --read "$T/hog" -- sh -c "$T/hog procs 17; sleep 3" >/dev/null 2>&1 </dev/null &
sleep 0.5
run --procs 20 --time 5s -- "$T/hog" procs 15
is "another box of the same user has processes of its own" "$(cat out)" "15 all"
wait
is "no control group is left at the end" "$(groups)" 0
done_testing
