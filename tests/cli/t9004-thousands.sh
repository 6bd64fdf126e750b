#!/bin/sh
# 500 boxes at once, and a thousand in a row (CORDON_LONG=10000: as many), leave nothing: no process, group, mount, socket,
# file or namespace. What others do on the machine is not counted, but for namespaces, which have no name: there a leak of
# one in each run would show.
# alone: 500 boxes at once would slow down what is timed, and mounts are counted.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
: "${CORDON_LONG:=1000}"
tag="thousands-$$"
# Programs of ours, by their own copy of cordon.
echo "$T/cordon" >program
processes() { grep -lsa -F -f program /proc/[0-9]*/cmdline | wc -l; }
groups() { find /sys/fs/cgroup -name 'cordon-*' 2>/dev/null | grep -c -F -f ids; }
sockets() { grep '@cordon/' /proc/net/unix | grep -c -F -f ids; }
mounts() { grep -c cordon /proc/self/mountinfo; }
namespaces() { awk '$1 == "net_namespace" { print $2; n = 1 } END { if (!n) print 0 }' /proc/slabinfo 2>/dev/null || echo 0; }
settled() {
        for _ in $(seq 1 100); do
                [ "$(processes)" -eq 0 ] && [ "$(groups)" -eq 0 ] && [ "$(sockets)" -eq 0 ] && return 0
                sleep 0.1
        done
        echo "$(processes) processes, $(groups) groups, $(sockets) sockets"
        return 1
}
mounts_before=$(mounts)
echo nothing-yet >ids

# --- 500 at once ---
i=0
while [ $i -lt 500 ]; do
        i=$((i + 1))
        "$CORDON" run -q --name "$tag-$i" --time 300s --status-fd 3 -- sh -c 'echo up; sleep 280' 3>"st.$i" </dev/null >"out.$i" 2>"err.$i" &
done
for _ in $(seq 1 1500); do
        up=$(cat out.* | grep -c up)
        [ "$up" -eq 500 ] && break
        sleep 0.1
done
is "500 boxes are up at once" "$up" 500
is "ps lists them all" "$("$CORDON" ps | grep -c "$tag-")" 500
# shellcheck disable=SC2046
ok "one call stops them all" "$CORDON" stop -k $(seq -f "$tag-%g" 1 500)
wait
is "each says how it ended" "$(jq -r .end st.* | sort | uniq -c | tr -s ' ')" " 500 signaled"
is "and none complains" "$(cat err.* | sort | uniq -c | head -n 3)" ""
jq -r .run st.* >ids
ok "nothing is left of them" settled

# --- many in a row ---
before=$(namespaces)
bad=0 i=0
while [ $i -lt "$CORDON_LONG" ]; do
        i=$((i + 1))
        "$CORDON" run -q --status-fd 3 -- true 3>>row </dev/null >/dev/null 2>>errors || bad=$((bad + 1))
done
is "$CORDON_LONG boxes in a row all end well" "$bad $(sort errors | uniq -c | head -n 3)" "0 "
jq -r .run row >ids
is "each with an id of its own" "$(sort -u ids | wc -l)" "$CORDON_LONG"
ok "nothing is left of them" settled
is "no mount was left" "$(mounts)" "$mounts_before"
for _ in $(seq 1 100); do # the kernel frees them behind our back
        after=$(namespaces)
        [ $((after - before)) -lt $((CORDON_LONG / 4)) ] && break
        sleep 0.2
done
ok "no namespace for each run was left ($before before, $after after)" test $((after - before)) -lt $((CORDON_LONG / 4))
done_testing
