#!/bin/sh
# Buffers of sockets are memory of the box, by every way to fill them and whoever counts; and no box takes the pool that
# TCP and UDP have for the whole host.
# alone: limits that bite in time.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile buffers
root() { "$@"; }
# run ARGUMENT...: as $who; the result in status, the MiB that its sockets held in $held
run() {
        $who "$CORDON" run -q --status-fd 3 --time 60s --read "$T/buffers" "$@" 3>status >out 2>err </dev/null
        held=$(awk '{ n += $2 } END { print int(n / 1024) }' out)
}
get() { jq -r "$1" <status 2>&1; }
# stayed MIB: it was ended for its memory, or held no more
stayed() { [ "$(get .limit)" = memory ] || { [ "$(get .exit)" = 0 ] && [ -s out ] && [ "$held" -le "$1" ]; }; }

for who in root as_user; do
        for wall in namespace 'namespace without cgroup'; do
                if ! ss -H -x >/dev/null 2>&1 && { [ $who = as_user ] || [ "$wall" != namespace ]; }; then
                        skip "$who, $wall: buffers of sockets count" "this kernel lists no sockets"
                        continue
                fi
                for way in tcp udp unix; do
                        run --wall "$wall" --memory 64M -- "$T/buffers" $way 2
                        ok "$who, $wall: $way: two processes hold no more than 64M ($held, $(get .limit))" stayed 80
                done
                for way in tcp udp; do
                        run --wall "$wall" -- "$T/buffers" $way 4
                        ok "$who, $wall: $way: a default box holds an eighth of its memory ($held, $(get .limit))" stayed 300
                done
                run --wall "$wall" --memory 1G --files 20 -- "$T/buffers" tcp 1
                ok "$who, $wall: it holds some ($held), which stands in the result ($(get .memory_peak))" \
                        test "$held" -ge 4 -a "$(get '.memory_peak / 1048576 | floor')" -ge $((held - 5))
        done
done

# Each socket that asks for no size of its own is bounded by settings of the box's own namespace, behind `net` doors too.
if unshare -rn sh -c 'echo "4096 131072 524288" >/proc/sys/net/ipv4/tcp_rmem' 2>/dev/null; then
        for who in root as_user; do
                for net in '' '--net=127.0.0.1:9'; do
                        run $net --files 8 -- "$T/buffers" plain 1
                        ok "$who: one connection holds 2M at most ${net:+with net doors }($(cat out err))" \
                                awk 'NF == 2 && $2 > 0 && $2 <= $1 * 1024 { good = 1 } END { exit !good }' out
                done
        done
else
        skip "one connection holds 2M at most" "settings of a new network namespace cannot be written here"
fi
done_testing
