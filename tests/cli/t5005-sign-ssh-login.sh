#!/bin/sh
# `sign ssh:` doors with the real ssh, over a real connection to a real sshd: the box logs in with a key that it does not have, in a run
# and in a session, and hands on no more of the agent than its doors show.
# shellcheck disable=SC2016,SC2086,SC2089,SC2090
LAB_SSHD='ListenAddress 11.22.33.80
Port 22
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
PidFile none'
export LAB_SSHD
. "$(dirname "$0")/lib-net.sh"
for p in ssh ssh-agent ssh-add ssh-keygen /usr/sbin/sshd; do
        command -v $p >/dev/null || { skip "ssh with a key of the agent" "$p is not installed"; done_testing; }
done
cd "$T" || exit 1
ssh-keygen -q -t ed25519 -N '' -C alice@laptop -f k && ssh-keygen -q -t ed25519 -N '' -C other -f k2
eval "$(ssh-agent -a "$T/agent")" >/dev/null
# shellcheck disable=SC2154
trap 'code=$?; kill "$SSH_AGENT_PID"; exec 9>&-; wait $LAB 2>/dev/null; umount -l "$(readlink -f /etc/resolv.conf)" /etc/hosts /etc/nsswitch.conf 2>/dev/null; remove "$T"; exit $code' EXIT
ssh-add -q k k2
print=$(ssh-keygen -lf k.pub | cut -d ' ' -f 2)
cp k.pub lab/authorized_keys && printf 'nginx.test %s\n' "$(cut -d ' ' -f 1,2 lab/host_key.pub)" >known
me=$(id -un)
login="ssh -F none -T -o BatchMode=yes -o ConnectTimeout=30 -o UserKnownHostsFile=$T/known -o GlobalKnownHostsFile=/dev/null $me@nginx.test"
timeout 60 $login echo there >out 2>err
[ "$(cat out)" = there ] || { skip "ssh with a key of the agent" "no login to an sshd of the test's own: $(tail -n 1 lab/sshd.log err 2>&1 | tr '\n' ' ')"; done_testing; }
sign="--sign ssh:alice@laptop --read $T/known --net nginx.test:22"

box root $sign -- $login 'echo from inside; echo "$SSH_CONNECTION" | cut -d " " -f 3,4'
is "ssh in a box logs in with the key outside" "$status $(cat "$T/out")" "0 from inside
11.22.33.80 22"
has "which is recorded as what it is" "$("$CORDON" ledger show)" "login as \"$me\" for ssh-connection"
box root $sign -- sh -c "head -c 3000000 /dev/zero | $login 'wc -c'"
is "bytes pass both ways" "$status $(cat "$T/out")" "0 3000000"
box root $sign -- sh -c "$login 'exit 7'"
is "with the status of the command" $status 7
box root $sign -- sh -c "${login%% *} -A ${login#* } ssh-add -l"
is "an agent that is forwarded shows the key of the door alone" "$(cut -d ' ' -f 2 "$T/out")" "$print"
box root --sign 'ssh:alice@laptop max 1' --read "$T/known" --net nginx.test:22 -- sh -c "$login echo one; $login echo two"
is "\`max 1\` is one login" "$(cat "$T/out")" one
box root --sign ssh:other --read "$T/known" --net nginx.test:22 -- $login echo in
is "a key that the server does not know is of no use" "$status $(cat "$T/out") $(grep -c 'Permission denied' "$T/err")" "255  1"
box root --read "$T/known" --net nginx.test:22 -- $login echo in
is "nor is a box without the door" "$status $(cat "$T/out")" "255 "

# --- a session ---
timeout 60 "$CORDON" session new ssh-$$ $sign >out 2>&1 9>&-
is "a session has the door too" "$?" 0
for i in 1 2; do
        timeout 60 "$CORDON" session run ssh-$$ -- $login "echo run $i" >out 2>err </dev/null 9>&-
        is "run $i of it logs in" "$? $(cat out)" "0 run $i"
done
timeout 60 "$CORDON" session run ssh-$$ -- ssh-add -l >out 2>err </dev/null 9>&-
is "and sees one key" "$(cut -d ' ' -f 2 out)" "$print"
ok "it ends" timeout 60 "$CORDON" session end ssh-$$
is "the agent has its keys still" "$(ssh-add -l | wc -l)" 2
done_testing
