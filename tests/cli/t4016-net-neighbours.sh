# The tables of neighbours (ARP, ND) are the whole machine's: a box with a net door that sends to every address of its link does not fill them.
. "$(dirname "$0")/lib-net.sh"
cat >"$T/flood.py" <<'PY'
import socket
SO_BINDTODEVICE, MSG_DONTROUTE = 25, 4
def flood(family, name):  # how many of them the kernel had no room for
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setblocking(False)
    s.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, b'eth0\0')
    full = 0
    for i in range(3000):
        try:
            s.sendto(b'x', MSG_DONTROUTE, (name(i), 9))
        except OSError:
            full += 1
    return full
print(flood(socket.AF_INET, lambda i: '10.9.%d.%d' % (i >> 8, i & 255)), flood(socket.AF_INET6, lambda i: 'fd53:c0d1::1:%x' % (i + 16)))
PY
chmod 644 "$T/flood.py" && chmod 755 "$T"
# How often a neighbour found no room, on any processor.
fulls() { tail -qn +2 "/proc/net/stat/$1" | awk '{ print $NF }' | while read -r n; do echo $((0x$n)); done | awk '{ s += $1 } END { print s }'; }
for who in root as_user; do
        arp=$(fulls arp_cache) nd=$(fulls ndisc_cache)
        box $who --net web.test:80 --read "$T/flood.py" -- python3 "$T/flood.py"
        is "$who: 3,000 addresses of its link, both families" "$(cat "$T/out")" "0 0"
        is "$who: and the machine's tables were never full" "$(fulls arp_cache) $(fulls ndisc_cache)" "$arp $nd"
        box $who --net web.test:80 -- curl -sS -m 10 http://web.test/after
        is "$who: the link works" "$(cat "$T/out")" "GET /after 0"
        box $who --net six.test:80 -- curl -6sS -m 10 http://six.test/after
        is "$who: over IPv6, too" "$(cat "$T/out")" "GET /after 0"
done
done_testing
