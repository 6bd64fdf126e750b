#!/bin/sh
# A box asks for its own interfaces, addresses and routes as programs do, and for nothing else of netlink: no type, protocol,
# group or way to send leads to the kernel's server.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
root() { "$@"; }
compile interfaces
for who in root as_user; do
        run() { $who "$CORDON" run -q --time 60s --ledger off "$@" 2>&1 </dev/null; }
        for observe in denials off; do
                run --observe $observe --read "$T/interfaces" -- "$T/interfaces" >out
                is "$who, $observe: getifaddrs, also after each attack" "$(grep -c '^getifaddrs links 1 v4 1$' out)" 5
                is "$who, $observe: as Go asks" "$(grep '^go' out)" "go bind 0 sent 1 name 0 family 16 length 12 same 1"
                is "$who, $observe: answers come from the kernel's address" "$(grep '^sender' out)" "sender length 12 pid 0"
                is "$who, $observe: three of all types are served" "$(grep '^types' out)" "types served 3 refused 253 other 0"
                is "$who, $observe: no way to send leads elsewhere" "$(grep '^ways' out)" "ways that were answered otherwise: 0"
                is "$who, $observe: no group can be joined" "$(grep '^groups' out)" "groups -1 connect -1"
                is "$who, $observe: no other protocol" "$(grep '^other' out)" "other protocols 0"
                is "$who, $observe: sockets are bounded" "$(grep '^at a time' out)" "at a time bounded"
                is "$who, $observe: a descriptor that flips leaks nothing" "$(grep '^races' out)" "races leaked 0"
        done
        # --- programs ---
        is "$who: a box with a net door sees its link" "$(run --net 127.0.0.1:1 --read "$T/interfaces" -- "$T/interfaces" | grep -c '^getifaddrs links 2')" 5
        if command -v ip >/dev/null; then
                is "$who: ip addr" "$(run -- ip -o -4 addr show | tr -s ' ' | cut -d ' ' -f 2-4)" "lo inet 127.0.0.1/8"
                is "$who: ip route of a box without a network" "$(run -- ip route)" ""
                has "$who: nothing can be changed" "$(run -- ip link set lo down)" "not permitted"
        else
                skip "$who: ip" "it is not installed"
        fi
        if command -v node >/dev/null; then
                is "$who: os.networkInterfaces() of node" "$(run -- node -p 'Object.keys(os.networkInterfaces()).join()')" lo
        else
                skip "$who: node" "it is not installed"
        fi
        is "$who: a name of its own is still looked up" "$(run -- python3 -c 'import socket; print(socket.getaddrinfo("localhost", 80, socket.AF_INET)[0][4][0])')" 127.0.0.1
        is "$who: the process wall, which has the host's network, has none of it" "$(run --wall process -- python3 -c '
import socket
try:
    print(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
except OSError as e:
    print(e.errno)')" 95
done
# --- musl sends without an address and does not wait for the answer ---
cat >musl.c <<'END'
#include <ifaddrs.h>
#include <stdio.h>
#include <sys/socket.h>
int main(void)
{
        struct ifaddrs *a;
        int n = 0;
        for (int i = 0; i < 200; i++)
                if (getifaddrs(&a) == 0)
                        for (; a; a = a->ifa_next)
                                n += a->ifa_addr && a->ifa_addr->sa_family == AF_INET;
        printf("%d\n", n);
        return 0;
}
END
if musl-gcc -static -o "$T/musl" musl.c 2>/dev/null && chmod 755 "$T/musl"; then
        is "getifaddrs of musl, each time" "$("$CORDON" run -q --ledger off --read "$T/musl" -- "$T/musl" 2>&1)" 200
else
        skip "getifaddrs of musl" "musl-gcc is not installed"
fi
done_testing
