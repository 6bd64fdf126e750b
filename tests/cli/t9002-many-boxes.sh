#!/bin/sh
# 200 boxes in a row and 50 at once leave no process, control group, descriptor, mount or file.
# alone: 50 boxes at once would slow down what is timed, and mounts are counted.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
chmod 777 "$T"
if [ "$(id -u)" -eq 0 ]; then user="setpriv --reuid 65533 --regid 65533 --clear-groups"; else user=""; fi
tag="many-$$"
echo "$tag" >pattern
# What is left of our runs; other tests may have theirs.
processes() { grep -lsa -F -f pattern /proc/[0-9]*/cmdline | wc -l; }
groups() { find /sys/fs/cgroup -name 'cordon-*' 2>/dev/null | grep -c -F -f ids; }
over() { [ "$(processes)" -eq 0 ] && [ "$(groups)" -eq 0 ]; }
settled() {
        ! soon over || return 0
        echo "$(processes) processes, $(groups) groups"
        return 1
}
mounts=$(grep -c cordon /proc/self/mountinfo)
for who in root user; do
        prefix=""
        [ $who = root ] || prefix=$user
        bad=0
        : >ids
        i=0
        while [ $i -lt 100 ]; do
                i=$((i + 1))
                out=$($prefix "$CORDON" run -q --status-fd 3 --env "TAG=$tag" -- sh -c "echo $i" 3>>results </dev/null)
                [ "$out" = "$i" ] || bad=$((bad + 1))
        done
        is "$who: 100 boxes in a row all say what they should" $bad 0
        jq -r .run <results >ids
        is "$who: each has an id of its own" "$(sort -u ids | wc -l)" "$(wc -l <results)"
        is "$who: each was attested" "$(jq -r .attested <results | sort -u)" true
        ok "$who: nothing is left of them" settled

        : >results
        i=0
        while [ $i -lt 50 ]; do
                i=$((i + 1))
                # shellcheck disable=SC2086
                (exec $prefix "$CORDON" run -q --status-fd 3 --env "TAG=$tag" -- sh -c "sleep 0.5; echo $i; exit 7" 3>"st.$who.$i" >"out.$who.$i" 2>&1 </dev/null; echo $? >"code.$who.$i") &
        done
        wait
        is "$who: 50 at once all say what they should" "$(cat out."$who".* | sort -n | tr '\n' ' ')" "$(seq 1 50 | tr '\n' ' ')"
        cat st."$who".* >results
        is "$who: and end as they should" "$(jq -r .exit <results | sort | uniq -c | tr -s ' ')" " 50 7"
        jq -r .run <results >ids
        is "$who: with 50 ids" "$(sort -u ids | wc -l)" 50
        ok "$who: nothing is left of them either" settled
        : >results
done
# One keeper process that fails to start many times does not pile anything up.
i=0
while [ $i -lt 100 ]; do
        i=$((i + 1))
        "$CORDON" run -q --env "TAG=$tag" --read /no/such/door -- true >/dev/null 2>&1 </dev/null
        "$CORDON" run -q --env "TAG=$tag" -- no-such-program >/dev/null 2>&1 </dev/null
done
ok "200 failed starts leave nothing" settled
# A keeper that serves many questions holds no more descriptors than before.
id=$("$CORDON" run -d --env "TAG=$tag" --time 30s -- sleep 20)
keeper=$("$CORDON" ps --json "$id" | jq -r .keeper)
# shellcheck disable=SC2012
before=$(ls "/proc/$keeper/fd" | wc -l)
i=0
while [ $i -lt 100 ]; do
        i=$((i + 1))
        "$CORDON" ps "$id" >/dev/null
        "$CORDON" logs "$id" >/dev/null
done
# shellcheck disable=SC2012
no_dearer() { after=$(ls "/proc/$keeper/fd" | wc -l) && [ "$after" -le "$before" ]; } # it lays down the last one when it has answered
ok "200 questions cost the keeper no descriptor" soon no_dearer
"$CORDON" stop -k "$id"
echo "$id" >ids
ok "and nothing is left of it" settled
is "no mount was left" "$(grep -c cordon /proc/self/mountinfo)" "$mounts"
ok "no registry socket was left" test "$(grep '@cordon/' /proc/net/unix | grep -c -F -f ids)" -eq 0
done_testing
