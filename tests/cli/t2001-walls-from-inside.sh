#!/bin/sh
# What a box looks like from inside: as root and as an ordinary user outside, as uid 1000 and uid 0 inside.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile probe

root() { "$@"; }
# box ARGUMENT...: what the payload said, both streams, as $who with $inside
box() { $who env HOME="$T/home" SECRET_TOKEN=hunter2 "$CORDON" run -q $inside -- "$@" </dev/null 2>&1; }

mkdir -p home/.ssh && echo "PRIVATE KEY" >home/.ssh/id_rsa && chmod -R a+rX home
name=cordon-test-$$
hostname=$(hostname)
"$T/probe" listen $name >ports &
canary=$!
soon test -s ports
read -r port4 port6 <ports
"$T/probe" connect "$port4" "$port6" "$name" >control
is "outside, the canaries answer" "$(grep -vc ' OK$' control)" 0
ok "outside, there are canaries" grep -q 'connect-loopback OK' control

for who in root as_user; do
        for inside in "--use base/strict" "--use base/strict --root"; do
                as="$who ${inside#--use }"
                box "$T/probe" >seen
                is "$as: the probe came to its end" "$(grep -c '^kill-self OK$' seen)" 1
                while read -r line; do
                        try=${line% *}
                        case $try in
                        fork | write-tmp | write-home | write-null | mkfifo | socketpair | map-rwx-anonymous | chmod-755 | kill-self)
                                is "$as: $try works" "${line##* }" OK ;;
                        *) ok "$as: $try is refused (${line##* })" test "${line##* }" != OK ;;
                        esac
                done <seen
                ok "$as: all tries were made" test "$(wc -l <seen)" -gt 20
                hasnt "$as: nothing that was written ran" "$(cat seen)" "ran OK"
                box "$T/probe" connect "$port4" "$port6" "$name" >seen
                ok "$as: the canaries were tried" test "$(wc -l <seen)" -ge 2
                is "$as: no canary outside is reached" "$(grep -c ' OK$' seen)" 0

                # --- files that do not exist ---
                has "$as: a private key of the caller does not exist" "$(box cat "$T/home/.ssh/id_rsa")" 'No such file'
                has "$as: nor by ~" "$(box sh -c 'cat ~/.ssh/id_rsa')" 'No such file'
                for path in /root /etc/shadow /run /sys /proc/sys /proc/1 /proc/kcore /proc/keys /proc/cmdline /proc/net/dev \
                        /proc/sysrq-trigger /boot /mnt /srv /opt /dev/mem /dev/kmsg /dev/tty /dev/pts /dev/ptmx /dev/fuse \
                        /var/lib /var/log /var/run "$T/home" "$T/cordon"; do
                        has "$as: $path does not exist" "$(box stat "$path")" 'No such file'
                done
                is "$as: /home holds the box's own only" "$(box ls -A /home)" box
                is "$as: the home is empty" "$(box sh -c 'ls -A ~')" ''
                is "$as: /tmp is empty" "$(box ls -A /tmp)" ''
                is "$as: /var holds tmp only" "$(box ls -A /var)" tmp
                is "$as: /etc/passwd does not name the host's users" "$(box sh -c 'grep -vc -e ^root: -e ^box: /etc/passwd')" 0
                is "$as: /dev holds nothing else" "$(box ls -A /dev | sort | tr '\n' ' ')" ".landlock fd full null random shm stderr stdin stdout urandom zero "
                is "$as: /proc shows own processes only" \
                        "$(box sh -c 'for p in /proc/[0-9]*; do read -r c <$p/comm && echo $c; done' | grep -vc '^sh$')" 0
                never "$as: the environment does not leak" "$(box sh -c 'echo BEGAN; cat /proc/*/environ; env')" hunter2

                # --- ids and powers ---
                state=$(box cat /proc/self/status)
                for set in CapInh CapPrm CapEff CapBnd CapAmb; do
                        has "$as: $set is empty" "$state" "$set:	0000000000000000"
                done
                has "$as: no new privileges" "$state" "NoNewPrivs:	1"
                has "$as: seccomp filters" "$state" "Seccomp:	2"
                want=1000
                case $inside in *--root) want=0 ;; esac
                is "$as: the uid inside is $want" "$(box id -u)" $want
                # Without root nobody can leave supplementary groups: they stay, and have no name inside.
                is "$as: one group with a name" "$(box id -G | tr ' ' '\n' | grep -v -x 65534)" $want
                [ $who != root ] || [ "$(id -u)" -ne 0 ] || is "$as: and no other" "$(setpriv --groups 5,6,20 "$CORDON" run -q $inside -- id -G)" $want
                is "$as: the host's name is not known" "$(box hostname)" box
                is "$as: set-uid programs of the host gain nothing" "$(box sh -c 'su -c id </dev/null 2>&1 | grep -c "uid=0(root) .*root"')" 0

                # --- programs that were written cannot run ---
                loader=$(readlink -f /lib64/ld-linux-x86-64.so.2 2>/dev/null || readlink -f /lib/ld-linux-aarch64.so.1)
                out=$(box sh -c 'cp /bin/echo /tmp/x; cp /bin/echo ~/x; chmod +x /tmp/x ~/x; /tmp/x RAN; ~/x RAN; '"$loader"' /tmp/x RAN; '"$loader"' ~/x RAN')
                hasnt "$as: a copied program does not run, not by ld.so either" "$out" RAN
                has "$as: the copy was there" "$out" "ermission denied"
                is "$as: ld.so with a program of the host runs" "$(box sh -c "$loader /bin/echo RAN")" RAN
                out=$(box sh -c 'echo BEGAN; echo "echo RAN" >/tmp/s; chmod +x /tmp/s; /tmp/s')
                never "$as: a written script does not run" "$out" RAN
        done
        # --- nothing outside is harmed ---
        inside=""
        : >victim
        $who sh -c 'echo $$; exec sleep 60' >victim & # $! is a shell's, which runs our function
        soon test -s victim
        victim=$(cat victim)
        box sh -c 'kill -9 -1' >/dev/null
        box sh -c 'kill -9 -- -1; kill -TERM 1; for p in $(seq 2 400); do kill -9 $p; done' >/dev/null 2>&1
        ok "$who: kill -9 -1 inside harms nothing outside" kill -0 $victim
        kill $victim 2>/dev/null
        wait $! 2>/dev/null
        box sh -c 'kill -9 1; kill -TERM 1; echo alive' >seen
        is "$who: the payload cannot kill init" "$(grep -c '^alive$' seen)" 1
done
kill $canary
wait $canary 2>/dev/null
is "the hostname outside is what it was" "$(hostname)" "$hostname"
ok "no core file was left" test -z "$(find "$T" -name 'core*')"
done_testing
