#!/bin/sh
# Two boxes at once have nothing in common that either can write; as root, each has an id outside that owns nothing.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
cat >look <<'END'
for n in cgroup ipc mnt net pid user uts; do echo "ns $n $(readlink /proc/self/ns/$n)"; done
# Everything that can be written, but the devices that keep nothing and the host's sockets, which nobody inside can connect to
# (t2013): device and inode number.
find / -path /proc -prune -o -writable -exec stat -c '%F:object %d:%i %n' {} + 2>/dev/null | grep -v -e '^character' -e '^symbolic' -e '^socket' | cut -d : -f 2-
stat -c 'object %d:%i %n' /proc/self/comm
# Leaves something wherever two programs could meet.
echo "$1" >/tmp/meet; echo "$1" >/dev/shm/meet2; echo "$1" >"$HOME/meet"
ipcmk -Q >/dev/null 2>&1; ipcmk -S 1 >/dev/null 2>&1; ipcmk -M 4096 >/dev/null 2>&1
echo "left $(cat /tmp/meet /dev/shm/meet2 "$HOME/meet" | tr '\n' ' ')"
read -r _
echo "found $(cat /tmp/meet /dev/shm/meet2 "$HOME/meet" | tr '\n' ' ')"
echo "queues $(ipcs -q | grep -c 0x)" "segments $(ipcs -m | grep -c 0x)" "processes $(ls -d /proc/[0-9]* | wc -l)"
END
# start NAME: one box that looks, waits for a line in NAME.in, and looks again
start() {
        rm -f "$1.in" "$1.out" && mkfifo "$1.in" && chmod 666 "$1.in"
        $who "$CORDON" run -q --name "$1-$$" --time 60s --read "$T/look" -- sh "$T/look" "$1" <"$1.in" >"$1.out" 2>"$1.err" &
}
both_are_up() { soon grep -q left one.out && soon grep -q left two.out || { cat one.err two.err; return 1; }; }
# Each process of ours gives itself its name: until then it is called as its keeper is, and a janitor cannot be told from others.
named() { for p in $(pgrep -P "$1"); do [ "$(cat "/proc/$p/comm")" != cordon ] || return 1; done; }
ids_of() { # ids outside of the processes of the box whose keeper is $1; the janitor is outside, as its caller
        soon named "$1"
        for p in $(pgrep -P "$1"); do
                [ "$(cat "/proc/$p/comm")" != cordon-janitor ] || continue
                awk '$1 == "Uid:" { print $2, $3, $4, $5 }' "/proc/$p/status"
                ids_of "$p"
        done
}
powers_of() { # inherited, permitted, effective, ambient, no new ones: of init and of the observer, if there is one
        for p in $(pgrep -P "$1" -x cordon-init); do
                for q in "$p" $(pgrep -P "$p" -x cordon-observer); do
                        echo "$(cat "/proc/$q/comm") $(awk '/^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs):/ { sub(/^0+/, "", $2); print $2 + 0 ? $2 : 0 }' "/proc/$q/status" | paste -s -d ' ')"
                done
        done
}
for who in root as_user; do
        start one; exec 8>one.in
        start two; exec 9>two.in
        ok "$who: both boxes run" both_are_up
        for b in one two; do
                ids_of "$($who "$CORDON" ps --json "$b-$$" | jq -r .keeper)" | tr ' ' '\n' | sort -u >$b.ids
        done
        # Two powers over its own children, one of them for who reads the arguments of their calls; of root's also one over the
        # group bit of directories that the box changes; where the host may keep sockets below /usr, one over the box's network.
        case $who in root) powers=30 ;; *) powers=20 ;; esac
        if [ -e /usr/local/var ] || [ -e /usr/var ]; then powers=810$powers; else powers=800$powers; fi
        powers_of "$($who "$CORDON" ps --json "one-$$" | jq -r .keeper)" >powers
        is "$who: init has these powers" "$(grep cordon-init powers)" "cordon-init 0 $powers $powers 0 1"
        is "$who: who observes has one, where there is one" "$(grep -v -x -e 'cordon-init .*' -e 'cordon-observer 0 80000 80000 0 1' powers)" ""
        echo go >&8; echo go >&9
        exec 8>&- 9>&-
        wait
        for n in ipc mnt net pid user uts cgroup; do
                ok "$who: the $n namespaces are two" test "$(grep -h "^ns $n " one.out two.out | sort -u | wc -l)" -eq 2
        done
        ok "$who: objects to write were found ($(grep -c '^object' one.out) and $(grep -c '^object' two.out))" test "$(grep -c '^object' one.out)" -ge 4 -a "$(grep -c '^object' two.out)" -ge 4
        is "$who: no writable object is in both" "$(for b in one two; do awk '$1 == "object" { print $2 }' $b.out | sort -u; done | sort | uniq -d)" ""
        for b in one two; do
                is "$who: box $b finds only what it left" "$(grep '^found' $b.out)" "found $b $b $b "
                is "$who: box $b sees no queue and segment but its own" "$(sed -n 's/^queues \([0-9]*\) segments \([0-9]*\) .*/\1 \2/p' $b.out | awk '{ print ($1 <= 1 && $2 <= 1) }')" 1
        done
        [ "$who" = root ] && [ "$(id -u)" -eq 0 ] || continue
        for b in one two; do
                hasnt "root: no process of box $b is root outside" " $(tr '\n' ' ' <$b.ids)" " 0 "
                ok "root: it has one id outside ($(tr '\n' ' ' <$b.ids))" test "$(wc -l <$b.ids)" -eq 1
                is "root: which has no name" "$(getent passwd "$(cat $b.ids)")" ""
                is "root: and owns no file here" "$(find /etc /home /root /var /tmp /run -xdev -uid "$(cat $b.ids)" 2>/dev/null | head -n 3)" ""
        done
        ok "root: the other box has another" test "$(cat one.ids)" != "$(cat two.ids)"
done
if [ "$(id -u)" -eq 0 ]; then
        # One after the other: 20 runs, 20 ids.
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
                "$CORDON" run -d --time 1000s -- sleep 900
        done >started
        while read -r id; do
                ids_of "$("$CORDON" ps --json "$id" | jq -r .keeper)" | tr ' ' '\n' | sort -u
        done <started >ids
        # shellcheck disable=SC2046
        "$CORDON" stop -k $(cat started) >/dev/null 2>&1
        is "root: 20 runs have 20 ids" "$(sort -u ids | wc -l)" 20
        is "root: all of them above what systems hand out" "$(awk '$1 < 1900000000 || $1 >= 2147483648' ids)" ""
else
        skip "root: ids outside" "not root"
fi
# Descriptors on their way are counted for the account: a box that sends them to nobody stops neither starts nor `ps`.
few() { as_user sh -c 'ulimit -Sn 1024 && exec "$@"' sh "$@"; }
few "$CORDON" run -q --name "sender-$$" --time 60s -- python3 -c '
import socket, sys, time
sent = 0
pairs = []
while True:
    pairs.append(socket.socketpair())
    try:
        for _ in range(4):
            socket.send_fds(pairs[-1][0], [b"x"], [0] * 250)
            sent += 250
    except OSError:
        break
print(sent, flush=True)
time.sleep(50)' >"$T/sent" 2>&1 </dev/null &
sender=$!
soon test -s "$T/sent"
ok "a box sends descriptors to nobody ($(cat "$T/sent"))" test "$(cat "$T/sent")" -ge 1000
is "another box starts" "$(few "$CORDON" run -q -- echo hi 2>&1)" hi
has "boxes are found" "$(few "$CORDON" ps 2>&1)" "sender-$$"
ok "and stopped" few "$CORDON" stop "sender-$$"
wait $sender
done_testing
