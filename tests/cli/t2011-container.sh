#!/bin/sh
# In a container without privileges (docker's and podman's default filter and capabilities): no namespace can be made, and
# some calls are answered as if the kernel had none. Boxes get the process wall there and say so; a stated wall is not weakened.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile container
before=$(orphans)
mkdir door && echo open >door/file && echo "PRIVATE KEY" >key && chmod -R a+rX door key
caps=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap
as_root() { setpriv --inh-caps -all --bounding-set $caps "$T/container" "$@"; }
as_other() { as_user "$T/container" "$@"; }
users=as_other
[ "$(id -u)" -ne 0 ] || users="as_root as_other"
for who in $users; do
        is "$who: the container's filter is there" "$($who unshare -U true 2>&1 | grep -c -i 'not permitted')" 1
        is "$who: a box starts" "$($who "$CORDON" run -q -- echo hello 2>&1)" hello
        $who "$CORDON" run --status-fd 3 -- true 3>status >out 2>err </dev/null
        is "$who: with the process wall, attested" "$(jq -r '"\(.wall) \(.attested)"' <status)" "process true"
        has "$who: which is said" "$(cat err)" "process wall"
        for layer in landlock seccomp capabilities no-new-privs; do
                is "$who: the layer $layer is up" "$(jq ".layers|index(\"$layer\") != null" <status)" true
        done
        out=$($who "$CORDON" run -q --wall namespace -- echo RAN 2>&1)
        is "$who: a namespace wall that was asked for is not weakened" "$?:$(printf %s "$out" | grep -c RAN)" 125:0
        has "$who: a key stays closed" "$($who "$CORDON" run -q -- cat "$T/key" 2>&1)" "ermission denied"
        is "$who: a door is open" "$($who "$CORDON" run -q --read "$T/door" -- cat "$T/door/file" 2>&1)" open
        is "$who: status of the payload" "$($who "$CORDON" run -q -- sh -c 'exit 7' >/dev/null 2>&1; echo $?)" 7
        $who "$CORDON" run -q --time 300ms -- sleep 20 >out 2>&1
        is "$who: a limit ends it" "$?" 124
        has "$who: doctor tells whose refusal it is" "$($who "$CORDON" doctor)" "blocked by an outer seccomp filter"
        # What of it was started has ended with it.
        $who "$CORDON" run -q -- sh -c "sleep 77.$$ & sleep 0.1" >out 2>&1
        is "$who: nothing is left" "$(pgrep -f "^sleep 77[.]$$\$")" ""
done
# Others give each of their users the group 0, to which /proc shows more than to others.
if [ "$(id -u)" -eq 0 ]; then
        for groups in "--regid 0 --clear-groups" "--regid 65533 --groups 0"; do
                # shellcheck disable=SC2086
                is "of the group 0 ($groups), a box starts and sees its own processes alone" \
                        "$(setpriv --reuid 65533 $groups "$CORDON" run -q --ledger off --wall namespace -- sh -c 'echo started; cat /proc/1/status' 2>&1 </dev/null)" \
                        "started
cat: /proc/1/status: No such file or directory"
        done
        has "root without the capability to be another is told what helps" "$(setpriv --inh-caps -all --bounding-set -all "$CORDON" run -- true 2>&1 </dev/null)" "hint: run it as another user"
        is "so does the root of a user namespace" "$(unshare -Ur "$CORDON" run -q --ledger off --wall namespace -- echo started 2>&1 </dev/null)" started
fi
# Also where the outer one has no control groups, and so leaves the inner one no Landlock.
for who in "" as_user; do
        has "${who:-the caller}: a box inside another is told why it is none" "$($who "$CORDON" run -q -- "$CORDON" run --ledger off -- true 2>&1 </dev/null)" "hint: no box starts inside another"
done
mkdir shared && cp "$CORDON_LIBEXEC/cordon-egress" shared && chmod 777 shared/cordon-egress
has "a program of cordon's that others can change is not told to be missing" "$(CORDON_LIBEXEC=$T/shared "$CORDON" run --net 127.0.0.1:9 -- true 2>&1 </dev/null)" "$T/shared/cordon-egress belongs neither to root nor to you, or others can change it"
ok "no control group is left" none_left
done_testing
