#!/bin/sh
# The wall without namespaces: what it holds, what it says, and that no stated wall is ever weakened.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile probe
compile hog
compile shared
root() { "$@"; }
box() { $who "$CORDON" run -q --wall process "$@" </dev/null 2>&1; }
mkdir -p home/.ssh door && echo "PRIVATE KEY" >home/.ssh/id_rsa && echo open >door/file && chmod -R a+rX home door
name=cordon-p-$$
"$T/probe" listen $name >ports &
canary=$!
soon test -s ports
read -r port4 port6 <ports

for who in root as_user; do
        is "$who: it runs" "$(box -- echo hello)" hello
        has "$who: uid 0 is not quietly left out" "$(box --root -- true)" "the process wall cannot show uid 0"
        $who "$CORDON" run --wall process --status-fd 3 -- true 3>status >out 2>err </dev/null
        has "$who: it says what it is" "$(cat err)" 'process wall'
        is "$who: the result names the wall" "$(jq -r .wall <status)" process
        is "$who: attested" "$(jq -r .attested <status)" true
        for layer in landlock seccomp capabilities no-new-privs rlimit; do
                is "$who: the layer $layer is up" "$(jq ".layers|index(\"$layer\") != null" <status)" true
        done
        for layer in user mount pid net; do
                is "$who: the layer $layer is not claimed" "$(jq ".layers|index(\"$layer\")" <status)" null
        done
        is "$who: -q does not say it" "$(box -- true)" ''
        is "$who: the payload's status is cordon's" "$(box -- sh -c 'exit 7' >/dev/null; echo $?)" 7
        is "$who: a missing program is 127" "$(box -- no-such-program >/dev/null; echo $?)" 127
        # --- files ---
        for path in "$T/home/.ssh/id_rsa" /etc/shadow /etc/hostname /proc/1/status /proc/self/status /sys/kernel/mm /root /home /var /run; do
                out=$(box -- cat "$path")
                case $out in
                *"ermission denied"* | *"No such file"*) pass "$who: $path cannot be read" ;;
                *) fail "$who: $path cannot be read" "$out" ;;
                esac
        done
        is "$who: a read door can be read" "$(box --read "$T/door" -- cat "$T/door/file")" open
        has "$who: but not written" "$(box --read "$T/door" -- sh -c "echo x >$T/door/file")" ermission
        is "$who: and is what it was" "$(cat door/file)" open
        # Not cut off either, whoever may write it outside: that needs no descriptor.
        echo kept >loose && chmod 666 loose
        cut='print "BEGAN\n"; print truncate($ARGV[0], 0) ? "CUT" : $!'
        has "$who: what can only be read is not cut off" "$(box --read "$T/loose" -- perl -e "$cut" "$T/loose")" "BEGAN
Permission denied"
        has "$who: nor what no door names" "$(box -- perl -e "$cut" "$T/loose")" "BEGAN
Permission denied"
        is "$who: it is what it was" "$(cat loose)" kept
        # A device that a door shows by its directory is read, and not told anything.
        mkdir -p devices
        if [ "$(id -u)" -eq 0 ] && { [ -e devices/zero ] || mknod devices/zero c 1 5; } 2>/dev/null && chmod 666 devices/zero && head -c 1 devices/zero >/dev/null 2>&1; then
                is "$who: no request to a device behind a door" "$(box --read "$T/devices" -- perl -e 'open(D, "<", $ARGV[0]) or die; $b = "\0" x 64; print ioctl(D, 0x5401, $b) ? "TAKEN" : $!' "$T/devices/zero")" "Permission denied"
        else
                skip "$who: no request to a device behind a door" "no node can be made and opened there"
        fi
        for path in /tmp /var/tmp /dev/shm "$T"; do
                box -- sh -c "echo x >$path/cordon-planted-$$" >/dev/null
                ok "$who: nothing can be written to $path" test ! -e "$path/cordon-planted-$$"
        done
        # --- what it writes does not run, by whatever right over what that lies in ---
        rm -rf tree && mkdir -p tree/a/out && cp /bin/echo tree/prog && cp /bin/echo tree/a/prog && cp /bin/echo tree/a/kept && ln -s a tree/way && chmod -R a+rwX tree
        wrote="rm -f $T/tree/a/out/x; cp /bin/echo $T/tree/a/out/x && echo WROTE; $T/tree/a/out/x RAN; $T/tree/way/out/x RAN; $T/tree/prog beside; $T/tree/a/prog above"
        names="--run sh --run cp --run rm --run cat --run $T/tree/prog --run $T/tree/a/prog"
        for doors in "--read $T/tree" "--read $T/tree --read $T/tree/a" "--run $T/tree/way/"; do
                # shellcheck disable=SC2086
                out=$(box $names $doors --write "$T/tree/a/out" -- sh -c "$wrote")
                has "$who: it writes: $doors" "$out" WROTE
                hasnt "$who: what is written below what may run does not run: $doors" "$out" RAN
                has "$who: the rest does: $doors" "$out" "beside
above"
        done
        has "$who: in the default box it runs" "$(box --read "$T/tree" --write "$T/tree/a/out" -- sh -c "$wrote")" RAN
        # shellcheck disable=SC2086
        has "$who: or where a line says so" "$(box $names --read "$T/tree" --write "$T/tree/a/out" --run "$T/tree/a/out/" -- sh -c "$wrote")" RAN
        # shellcheck disable=SC2086
        has "$who: nor does a file that is a door itself" "$(box $names --read "$T/tree" --write "$T/tree/a/kept" -- sh -c "cat /bin/echo >$T/tree/a/kept && echo WROTE; $T/tree/a/kept RAN")" "WROTE
sh: 1: $T/tree/a/kept: Permission denied"
        # shellcheck disable=SC2086
        out=$(box $names --read "$T/tree" --write "$T/tree/a/out" --write "$T/tree/a/kept" -- sh -c "cat /bin/echo >$T/tree/a/kept && echo WROTE; $T/tree/a/kept RAN; $T/tree/prog beside")
        has "$who: nor what lies in one door and beside another in it: it writes" "$out" WROTE
        hasnt "$who: and does not run that" "$out" RAN
        has "$who: but what lies beside both" "$out" beside
        printf 'use base/system\nread %s except prog\nwrite %s\nrun sh cp rm %s\n' "$T/tree" "$T/tree/a/out" "$T/tree/a/prog" >tree.policy
        out=$(box -p tree.policy -- sh -c "$wrote")
        has "$who: beside an except, too: it writes" "$out" WROTE
        hasnt "$who: and does not run that" "$out" RAN
        has "$who: but what lies above" "$out" above
        for run in way/out/x way/out/ way/prog; do
                has "$who: nor a program that a link names: $run" "$(box --write "$T/tree/a" --run "$T/tree/$run" -- sh -c "$wrote")" "could change it and run it again"
        done
        # --- the same probes as behind the namespace wall ---
        box --use base/strict -- "$T/probe" >seen
        is "$who: the probe came to its end" "$(grep -c '^kill-self OK$' seen)" 1
        while read -r line; do
                try=${line% *}
                case $try in
                fork | write-null | map-rwx-anonymous | kill-self) is "$who: $try works" "${line##* }" OK ;;
                write-tmp | write-home | mkfifo | chmod-755 | socketpair) ;; # no private files, no sockets
                exec-tmp | exec-home | exec-shm) ;; # nothing can be written at all
                *) ok "$who: $try is refused (${line##* })" test "${line##* }" != OK ;;
                esac
        done <seen
        hasnt "$who: nothing that was written ran" "$(cat seen)" "ran OK"
        box -- "$T/probe" connect "$port4" "$port6" "$name" >seen
        ok "$who: the canaries were tried" test "$(wc -l <seen)" -ge 2
        is "$who: no canary outside is reached" "$(grep -c ' OK$' seen)" 0
        for family in AF_INET AF_INET6 AF_UNIX; do
                has "$who: a socket of $family is refused" "$(box -- python3 -c "import socket; socket.socket(socket.$family)")" Error
        done
        # --- other processes ---
        : >victim
        $who sh -c 'echo $$; exec sleep 30' >victim & # $! is a shell's, which runs our function
        soon test -s victim
        victim=$(cat victim)
        box -- sh -c "kill -9 $victim" >/dev/null
        ok "$who: another process cannot be killed" kill -0 $victim
        box -- sh -c 'kill -9 -1' >/dev/null
        ok "$who: nor can all" kill -0 $victim
        box -- sh -c 'kill -9 $PPID' >/dev/null
        is "$who: nor can init" "$(box -- sh -c 'kill -9 $PPID 2>/dev/null; echo alive')" alive
        kill $victim 2>/dev/null
        wait $! 2>/dev/null
        # --- stragglers ---
        tag=st$$
        began=$(date +%s)
        box --read "$T/hog" -- sh -c "$T/hog daemon 20 $tag; $T/hog daemon 20 $tag; (setsid sleep 19 &) ; exit 4" >/dev/null
        is "$who: the status with stragglers is the payload's" $? 4
        ok "$who: stragglers do not hold up the end" test $(($(date +%s) - began)) -lt 15
        is "$who: stragglers are gone" "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -c "^$tag\$")" 0
        box --time 2s --read "$T/hog" -- sh -c "$T/hog daemon 20 $tag; sleep 10" >/dev/null
        is "$who: the time limit ends it" $? 124
        is "$who: and its stragglers" "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -c "^$tag\$")" 0
        # --- limits are of the whole box here, too, with control groups and without ---
        for wall in process 'process without cgroup'; do
                limited() { $who "$CORDON" run -q --status-fd 3 --wall "$wall" --time 8s "$@" 3>status >out 2>err </dev/null; jq -r '.limit // "none"' <status; }
                is "$who: $wall: cpu is shared by four processes" "$(limited --cpu 500ms --read "$T/hog" -- "$T/hog" cpu 6 4)" cpu
                ok "$who: $wall: their sum was counted ($(jq .cpu_ms <status) ms)" test "$(jq '.cpu_ms >= 450 and .cpu_ms <= 1000' <status)" = true
                is "$who: $wall: memory is shared by six" "$(limited --memory 64M --read "$T/hog" -- "$T/hog" memory 25 6)" memory
                is "$who: $wall: memory files count" "$(limited --memory 64M --read "$T/shared" -- "$T/shared" memfds 96)" memory
                is "$who: $wall: a box within its limits is not touched" "$(limited --cpu 2s --memory 256M --read "$T/hog" -- sh -c "$T/hog memory 20 & sleep 0.5; kill \$!; exit 6"):$(jq .exit <status)" none:6
        done
        # --- what it cannot hold is refused ---
        has "$who: a sock door is refused" "$(box --sock "$T/none" -- true)" 'cordon: error:'
        for wall in vm wasm; do
                out=$($who "$CORDON" run --wall $wall -- true 2>&1 </dev/null)
                is "$who: the wall $wall is refused" $? 125
                has "$who: the wall $wall is refused with a reason" "$out" "$wall"
                has "$who: and a hint" "$out" 'cordon: hint:'
        done
done
kill $canary
wait $canary 2>/dev/null

# --- a host that does not allow user namespaces: made by a user namespace with none to give ---
as_root_of_it() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"; }
as_user_of_it() {
        as_user unshare -U --map-current-user --keep-caps sh -c \
                'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps -all --ambient-caps -all "$@"' sh "$@"
}
printf 'wall namespace\nuse base/system\n' >stated.policy
chmod 644 stated.policy
for blocked in as_user_of_it as_root_of_it; do
        if ! $blocked true 2>/dev/null; then
                skip "$blocked: a stated wall is never weakened" "this host cannot make a user namespace to take them away in"
                continue
        fi
        has "$blocked: no user namespace can be made" "$($blocked unshare -U true 2>&1)" unshare
        out=$($blocked "$CORDON" run --wall namespace -- echo RAN 2>&1 </dev/null)
        is "$blocked: a stated namespace wall that cannot be raised gives 125" $? 125
        hasnt "$blocked: and the payload never ran" "$out" RAN
        has "$blocked: with an error" "$out" 'cordon: error:'
        has "$blocked: and a hint" "$out" 'cordon: hint:'
        out=$($blocked "$CORDON" run --status-fd 3 -- echo RAN 3>status 2>err </dev/null)
        is "$blocked: wall auto falls back" "$?:$out" 0:RAN
        is "$blocked: to the process wall" "$(jq -r .wall <status)" process
        has "$blocked: and says so" "$(cat err)" 'process wall'
        $blocked "$CORDON" run -p stated.policy -- echo RAN >out 2>&1 </dev/null
        is "$blocked: a wall stated in a policy is not weakened either" "$?:$(grep -c RAN out)" 125:0
        $blocked "$CORDON" run -p stated.policy --wall process -- echo RAN >out 2>&1 </dev/null
        is "$blocked: nor by the command line" "$?:$(grep -c RAN out)" 125:0
        $blocked "$CORDON" run --read /no/such/door -- true >out 2>&1 </dev/null
        has "$blocked: a wrong door is told, not hidden by the fall back" "$(cat out)" /no/such/door
        $blocked "$CORDON" doctor >out 2>&1
        is "$blocked: doctor says that the namespace wall is missing" $? 1
done
# --- what an earlier box left, or others use up, does not choose the wall ---
for who in root as_user; do
        rm -rf left && mkdir -m 777 left
        # Made by the box, so that it is its own there, and somebody else's behind the process wall of root.
        out=$($who "$CORDON" run -q --wall namespace --write "$T/left" -- sh -c "mkdir '$T/left/sub' && chmod 0007 '$T/left/sub' && echo MADE" 2>&1 </dev/null)
        is "$who: a box closes a directory to its own user" "$out" MADE
        out=$($who "$CORDON" run --write "$T/left" --cwd "$T/left/sub" -- echo RAN 2>&1 </dev/null)
        is "$who: a run in there does not start, behind no other wall either" "$?:$(echo "$out" | grep -c RAN)" 125:0
        has "$who: and says what is wrong" "$out" "entering the directory $T/left/sub: Permission denied"
        out=$($who prlimit --nofile=20:20 "$CORDON" run -- echo RAN 2>&1 </dev/null)
        has "$who: too few descriptors are told" "$out" 'ulimit -n'
        hasnt "$who: and are no reason for the other wall" "$out" 'process wall'
done
out=$(as_user prlimit --nproc=1:1 "$CORDON" run --ledger off -- echo RAN 2>&1 </dev/null)
if [ "$(id -u)" -eq 0 ]; then
        has "too few processes are told" "$out" 'ulimit -u'
        hasnt "and are not taken for a host without namespaces" "$out" 'does not let us'
        # init is there, but nobody else can be: its word may come before or after the keeper misses it.
        for _ in $(seq 30); do as_user prlimit --nproc=2:2 "$CORDON" run --ledger off -- echo RAN 2>&1 </dev/null; done >out
        is "also where there is room for one more: nothing runs" "$(grep -c RAN out)" 0
        is "and no other wall is tried" "$(grep -c -e 'does not let us' -e 'process wall' out)" 0
        is "each time with a reason" "$(grep -c '^cordon: error: ' out)" 30
else
        skip "too few processes are told" "our own processes count too"
fi
# Landlock does not look at what a filesystem is asked for: a door that reads must not change what lies behind it.
mkdir flags && echo x >flags/f && chmod 755 flags && { [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 flags; }
if as_user lsattr flags/f >before 2>/dev/null; then
        as_user "$CORDON" run -q --wall process --read "$T/flags" -- perl -e 'open F, "<", $ARGV[0]; $x = pack "l", 0xc8; print ioctl(F, 0x40086602, $x) ? "CHANGED" : "no"' "$T/flags/f" >out 2>&1
        is "flags of a file behind a read door are not changed" "$(cat out):$(as_user lsattr flags/f | cmp - before)" "no:"
else
        skip "flags of a file behind a read door are not changed" "this filesystem has none"
fi
is "a signal for the whole group reaches the payload, as it is" "$(timeout 3 "$CORDON" run -q --wall process -- sh -c 'trap "echo TERM; exit 5" TERM; sleep 15 & wait' 2>/dev/null)" TERM
# Where Landlock holds no TCP, there is no such wall. strace answers as an older kernel would.
if strace -f -o /dev/null true 2>/dev/null; then
        out=$(timeout 20 strace -f -qq -o /dev/null -e trace=landlock_create_ruleset -e inject=landlock_create_ruleset:retval=3:when=1 "$CORDON" run -q --ledger off --wall process -- echo RAN 2>&1 </dev/null)
        is "an older Landlock is not enough" "$?:$(echo "$out" | grep -c RAN):$(echo "$out" | grep -c 'needs Landlock ABI 4; this kernel has 3')" 125:0:1
else
        skip "an older Landlock is not enough" "strace cannot trace here"
fi
# A root that cannot change ids would give its own to the box.
for wall in namespace process; do
        if [ "$(id -u)" -ne 0 ]; then
                skip "$wall: root that may not change ids starts nothing" "not root"
                continue
        fi
        out=$(setpriv --bounding-set=-setuid,-setgid "$CORDON" run -q --ledger off --wall $wall -- echo RAN 2>&1 </dev/null)
        is "$wall: root that may not change ids starts nothing" "$?:$(echo "$out" | grep -c RAN):$(echo "$out" | grep -c 'may not change ids')" 125:0:1
done
# Killed, neither init nor the reaper behind it leaves anything running.
for victim in cordon-init cordon-reaper; do
        as_user "$CORDON" run -q --wall process --time 60s --name "left-$victim-$$" -- sh -c "setsid sleep 60.$$ & (setsid sh -c 'sleep 60.$$; :' &) & sleep 60.$$; :" >out 2>&1 </dev/null &
        began=$!
        three() { [ "$(pgrep -c -x -f "sleep 60.$$")" -ge 3 ]; }
        soon three
        reaper=$(as_user "$CORDON" ps --json "left-$victim-$$" | jq .init)
        family=$(for p in $reaper $(pgrep -P "$reaper"); do echo "$p $(cat "/proc/$p/comm")"; done)
        is "three programs run, and $victim is there" "$(pgrep -c -x -f "sleep 60.$$"):$(echo "$family" | grep -c " $victim\$")" 3:1
        kill -9 "$(echo "$family" | sed -n "s/ $victim\$//p")"
        none() { ! pgrep -x -f "sleep 60.$$"; }
        soon none
        is "$victim is killed, and nothing is left" "$(pgrep -c -x -f "sleep 60.$$")" 0
        wait $began
done
# A caller with powers of its own, but not those that init needs: init has none of them while the payload runs.
if [ "$(id -u)" -eq 0 ]; then
        mkfifo ends && chmod 666 ends
        setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps +net_admin --ambient-caps +net_admin "$CORDON" run -q --ledger off --wall process -- cat <ends >out &
        keeper=$!
        exec 4>ends
        child() { tr -d ' ' <"/proc/$1/task/$1/children"; } # the only one
        held=
        for _ in $(seq 200); do
                init=$(child "$(child $keeper)" 2>/dev/null)
                held=$(grep -e CapInh -e CapPrm -e CapEff -e CapAmb "/proc/$init/status" 2>/dev/null | awk '{ print $2 }' | sort -u)
                [ "$held" != 0000000000000000 ] || break
                sleep 0.1
        done
        is "init has no power of its caller's" "$(cat "/proc/$init/comm") $held" "cordon-init 0000000000000000"
        exec 4>&-
        wait $keeper
        # Nor does the payload have its groups, behind either wall.
        for wall in namespace process; do
                is "$wall: of root's groups none gets in" "$(setpriv --groups 4242,4243 "$CORDON" run -q --wall $wall -- id -G | wc -w)" 1
        done
else
        skip "init has no power of its caller's" "only root has some to give"
fi
done_testing
