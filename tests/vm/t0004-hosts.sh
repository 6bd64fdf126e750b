#!/bin/sh
# Settings of hosts that deny something, set for real: what runs all the same, and what is said of the rest. Changes the machine,
# so it runs in one that is thrown away.
# shellcheck disable=SC2317
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
if ! grep -q cryptomgr.notests=1 /proc/cmdline; then
        skip "settings of hosts" "this is not a machine of tools/test-vm"
        done_testing
fi
chmod 755 "$T"
user() { as_user env HOME="$T/home" "$@" 2>&1 </dev/null; }
mkdir home door && echo open >door/file && chown 65533:65533 home
set_to() { echo "$2" >"/proc/sys/$1" 2>/dev/null; }
abi=$(user "$CORDON" doctor --json | jq -r '.[] | select(.layer == "landlock") | .detail | capture("ABI (?<n>[0-9]+)").n' 2>/dev/null)

# No user namespaces, for all and for ordinary users: the process wall, where Landlock has ABI 4.
for row in user/max_user_namespaces:0:15000 kernel/unprivileged_userns_clone:0:1; do
        key=${row%%:*} back=${row##*:}
        set_to "$key" 0 || { skip "$key is 0" "this kernel has no such setting"; continue; }
        if [ "${abi:-0}" -ge 4 ]; then
                out=$(user "$CORDON" run --ledger off --status-fd 2 -- sh -c 'mktemp >/dev/null && echo x >~/f && echo FILES')
                has "$key is 0: a box runs, with files of its own" "$out" FILES
                has "$key is 0: behind the process wall" "$out" '"wall":"process"'
                is "$key is 0: a door is open" "$(user "$CORDON" run -q --ledger off --read "$T/door" -- cat "$T/door/file")" open
        else
                hasnt "$key is 0: nothing runs" "$(user "$CORDON" run --ledger off -- echo RAN)" "
RAN"
        fi
        has "$key is 0: the hint of an edit door lifts it" "$(user "$CORDON" run --ledger off --edit "$T/home" -- true)" "hint: sudo sysctl -w $(echo "$key" | tr / .)="
        set_to "$key" "$back"
done

# The home on overlayfs, as that of a live system is.
mkdir over && mount -t tmpfs none over && mkdir over/up over/work over/low over/m && mount -t overlay none over/m -o "lowerdir=over/low,upperdir=over/up,workdir=over/work" &&
        mkdir over/m/p && echo a >over/m/p/a && chown -R 65533:65533 over/m && chmod 755 over
over() { as_user env HOME="$T/over/m" CORDON_STATE="$T/over/m/state" "$CORDON" "$@" 2>&1 </dev/null; }
has "a home on overlayfs: an edit door opens" "$(over run --ledger off --edit "$T/over/m/p" -- sh -c "echo b >>$T/over/m/p/a")" "1 change in an overlay"
over apply --ledger off >/dev/null
is "a home on overlayfs: apply lands it" "$(cat over/m/p/a)" "a
b"
umount -l over/m over

# /proc that shows nobody's processes, and a temporary directory that runs nothing.
mount -o remount,hidepid=2 /proc && has "hidepid=2: a box runs" "$(user "$CORDON" run -q --ledger off -- echo RAN)" RAN
mount -o remount,hidepid=0 /proc

# Last: only a restart takes it back.
if set_to kernel/yama/ptrace_scope 3; then
        out=$(user "$CORDON" run --ledger off --read "$T/door" --net https://a.example/ -- echo STARTED)
        hasnt "ptrace_scope 3: no net door beside a directory" "$out" STARTED
        has "ptrace_scope 3: the hint is the setting" "$out" "kernel.yama.ptrace_scope = 2"
        is "ptrace_scope 3: other boxes run" "$(user "$CORDON" run -q --ledger off --read "$T/door" -- cat "$T/door/file")" open
        has "ptrace_scope 3: doctor says it" "$(user "$CORDON" doctor)" "weak     net sockets"
else
        skip "ptrace_scope 3" "this kernel has no Yama"
fi
done_testing
