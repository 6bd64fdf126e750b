#!/bin/sh
# `local proc`: /proc/cpuinfo and the like are made for the box. They show its share of the machine and none of the host's
# load, they cannot be written, and no other name of proc comes with them.
# shellcheck disable=SC1091,SC2010,SC2015,SC2016,SC2086
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
compile nested
NAMES="cpuinfo diskstats filesystems loadavg meminfo stat uptime version vmstat"
# Everything that proc itself has beside processes, as this kernel has it.
OTHERS=$(ls /proc | grep -v -x -E "[0-9]+|self|thread-self|mounts|net|$(echo "$NAMES" | tr ' ' '|')" | tr '\n' ' ')

root() { "$@"; }
for who in root as_user; do
        for observe in denials off; do
                as="$who, observe $observe"
                box() { $who timeout 30 "$CORDON" run -q --wall namespace --observe "$observe" "$@" </dev/null 2>&1; }
                is "$as: the processors are those that it may run on" "$(box -- sh -c 'grep -c "^processor" /proc/cpuinfo; grep -c "^cpu[0-9]" /proc/stat; nproc' | sort -u | wc -l)" 1
                is "$as: glibc counts the same" "$(box -- sh -c 'getconf _NPROCESSORS_ONLN; nproc' | sort -u | wc -l)" 1
                is "$as: the memory is the limit" "$(box --memory 300M -- sed -n 's/^MemTotal: *//p' /proc/meminfo)" "307200 kB"
                is "$as: of the load there are zeros" "$(box -- cut -c 1-15 /proc/loadavg):$(box -- sed -n 's/^cpu  //p' /proc/stat)" "0.00 0.00 0.00 :0 0 0 0 0 0 0 0 0 0"
                host=$(sed -n 's/^btime //p' /proc/stat) own=$(box -- sed -n 's/^btime //p' /proc/stat)
                ok "$as: the machine started when it did ($own, $host)" test $((host - own)) -le 1 -a $((own - host)) -le 1
                before=$(cut -d . -f 1 /proc/uptime) own=$(box -- cut -d . -f 1 /proc/uptime) after=$(cut -d . -f 1 /proc/uptime)
                ok "$as: and has been up as long" test "$own" -ge "$before" -a "$own" -le "$after"
                is "$as: the kernel's version is what uname says" "$(box -- sh -c 'cut -d " " -f 3 /proc/version; uname -r' | sort -u | wc -l)" 1
                hasnt "$as: not who built it" "$(box -- cat /proc/version)" gcc
                is "$as: of disks and paging there is nothing" "$(box -- sh -c 'cat /proc/diskstats; grep -v " 0$" /proc/vmstat; echo BEGAN')" BEGAN
                is "$as: the mounts and the network are the process's own" "$(box -- sh -c 'readlink /proc/mounts /proc/net; cmp /proc/mounts /proc/self/mounts; sed -n "s/^ *\(.*\):.*/\1/p" /proc/net/dev' | tr '\n' ' ')" \
                        "self/mounts self/net lo "
                hasnt "$as: no serial number, nor a frequency that follows the load" "$(box -- grep -i -E '^(serial|hardware|cpu mhz|microcode)' /proc/cpuinfo)" :
                is "$as: no other name of proc is there" "$(box -- sh -c 'cd /proc; for n; do stat "$n" 2>&1 | grep -v "No such file or directory"; done; echo BEGAN' sh $OTHERS)" BEGAN
                is "$as: nothing of it can be written, removed or made" "$(box -- sh -c 'for f; do
                        (: >>/proc/$f) 2>&- && echo $f written; chmod 666 /proc/$f 2>&- && echo $f changed; rm -f /proc/$f 2>&- && echo $f removed; done
                        cd /sys/devices/system/cpu && for f in online possible present cpu0/x new; do (: >>$f) 2>&- && echo $f written; done; echo BEGAN' sh $NAMES mounts net)" BEGAN
                is "$as: /sys has nothing else" "$(box -- sh -c 'cd /sys && find . | grep -v -E "^\./devices/system/cpu/(cpu[0-9]+|online|possible|present)$" | sort | tr "\n" " "')" ". ./devices ./devices/system ./devices/system/cpu "
                # --- boxes without ---
                is "$as: the strict box has none of it" "$(box --use base/strict -- sh -c 'cd /proc; ls -d "$@" mounts net /sys 2>&- ; echo BEGAN' sh $NAMES)" BEGAN
                is "$as: unless it says so" "$(box --use base/strict --local proc -- sh -c 'cd /proc; ls -d "$@" mounts net | wc -l' sh $NAMES)" 11
        done
        # --- a nested proc, with all that forbids one taken away ---
        hooked() { $who env CORDON_KNOCKOUT=seccomp,landlock,nested-user,memfd-noexec timeout 30 "$T/hooked" run -q --wall namespace --read "$T/nested" "$@" -- "$T/nested" </dev/null 2>&1; }
        plain=$(hooked --use base/strict --run "$T/nested")
        if [ "$plain" = MOUNTED ]; then
                is "$who: a nested pid namespace mounts no proc, which one without covers would permit" "$(hooked)" refused
        else
                skip "$who: a nested pid namespace mounts no proc" "no such namespace here: $plain"
        fi
        if command -v taskset >/dev/null; then
                one=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
                is "$who: who is tied to one processor has one" "$($who taskset -c "$one" "$CORDON" run -q --wall namespace -- sh -c 'grep "^processor" /proc/cpuinfo; cat /sys/devices/system/cpu/online' | tr -s '\t\n' ' ')" "processor : $one $one "
        else
                skip "$who: who is tied to one processor has one" "no taskset here"
        fi
        has "$who: a process wall cannot have it" "$($who "$CORDON" run -q --wall process --local proc -- true 2>&1)" "the process wall cannot give a box \`local proc\`"
        is "$who: nor has by default" "$(status $who "$CORDON" run -q --wall process -- true)" 0
done

# A kernel that does not let a proc be narrowed: a box without these files, and no other name of proc instead.
if strace -f -o /dev/null -e trace=fspick -e inject=fspick:error=EPERM "$CORDON" run -q --wall namespace --ledger off -- true 2>/dev/null; then
        for observe in denials off; do
                is "observe $observe: where proc cannot be narrowed, the box has its processes alone" "$(strace -f -o /dev/null -e trace=fspick -e inject=fspick:error=EPERM "$CORDON" run -q --wall namespace --observe $observe --ledger off -- \
                        sh -c 'cat /proc/self/comm; cd /proc; for n; do [ ! -e $n ] || echo $n; done' sh $NAMES $OTHERS 2>/dev/null </dev/null)" cat
        done
else
        skip "where proc cannot be narrowed, the box has its processes alone" "strace cannot trace here"
fi
has "who begins a sandbox of its own is told that the box is one" "$("$CORDON" run -n -- unshare -U true 2>&1)" "(chromium --no-sandbox)"
has "doors prints it" "$("$CORDON" doors)" "local proc"
hasnt "not of the strict box" "$("$CORDON" doors --use base/strict)" "local proc"
has "why permits it" "$("$CORDON" why read /proc/cpuinfo)" "the box's own /proc"
ok "and not in the strict box" test "$(status "$CORDON" why --use base/strict read /proc/cpuinfo)" -ne 0
has "the claims say what tells the same without a file" "$("$CORDON" selftest claims)" "sysinfo(2), uname(2) and cpuid"
has "doctor says whether this host lets boxes have it" "$("$CORDON" doctor)" "files in /proc"
done_testing
