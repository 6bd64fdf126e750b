#!/bin/sh
# A payload that does not want its refusals told: they are, or it is told that some are not.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile evade
root() { "$@"; }
run() { $who "$CORDON" run -q --observe denials --status-fd 3 --read "$T/evade" -- "$T/evade" "$@" 3>status >out 2>err </dev/null; }
told() { jq -c '[[.denials[].what] | (index("read /etc/shadow") != null), (index("setns()") != null)]' <status; }
lost() { jq '.denials_lost > 0' <status; }
# It takes a minute: looked at in the end.
[ "$(id -u)" -ne 0 ] || timeout -k 1 200 python3 "$here/helpers/starts.py" "$CORDON" leave >"$T/left" &
left=$!
for who in root as_user; do
        run hide-not
        if [ "$(told)" != "[true,true]" ]; then
                skip "$who: refusals are hidden" "the box's own directories are not watched here (no /dev/fuse for us?)"
                continue
        fi
        is "$who: what was refused is told, and nothing is lost" "$(told)$(lost)" "[true,true]false"
        run hide-by-name
        is "$who: a program that takes init's name is told of" "$(told)$(lost)" "[true,true]false"
        run hide-among-paths 2000
        is "$who: two thousand paths hide nothing" "$(told)$(lost)" "[true,true]false"
        run hide-among-paths 9000
        is "$who: nine thousand hide no secret, and it is told that not all is told" "$(told)$(lost)" "[true,true]true"
        $who "$CORDON" run -v --read "$T/evade" -- "$T/evade" hide-among-paths 9000 >out 2>err </dev/null
        is "$who: a person is told so, too" "$(grep -c 'not listed, too many: [0-9]* read' err)" 1
        run hide-by-hash
        is "$who: a path does not hide another whose plain hash is the same" "$(told)$(lost)" "[true,true]false"
        # Links of the box's own, the kernel's links, and what is behind `..` where that is not what it is as text.
        # shellcheck disable=SC2016
        $who "$CORDON" run -q --use base/strict --observe denials --status-fd 3 -- sh -c '
                cp /bin/true /tmp/t; mkdir -p /tmp/lib/made; ln -s /usr/bin /tmp/l; ln -s /proc/self/fd/6 /tmp/k
                exec 5</usr/bin 6</usr/bin/id
                true >/tmp/l/by-link; true >/tmp/l/../lib/by-dots; true >/proc/self/root/usr/bin/by-root; true >/proc/self/fd/5/by-fd; true >/tmp/k
                mkdir /tmp/l/../lib/made; rm /tmp/l /tmp/k; ln -s /usr/bin /tmp/l
                /tmp/l/../../tmp/t; /proc/self/root/tmp/t
                echo fine >/dev/stdout; ln -s /dev/stderr /tmp/log; echo fine >>/tmp/log; ln -s round /tmp/round; true >/tmp/round' 3>status >out 2>err </dev/null
        is "$who: no link hides what is written or run, and what is not refused is not told" "$(jq -c '[([.denials[] | select(.code == "write" or .code == "run") | .what] | unique[]), .denials_lost]' status)" \
                '["run /tmp/t","write /usr/bin/by-fd","write /usr/bin/by-link","write /usr/bin/by-root","write /usr/bin/id","write /usr/lib/by-dots","write /usr/lib/made",0]'
        run hide-among-calls 2000
        is "$who: after two thousand calls another one is told" "$(told)$(lost)" "[true,true]true"
done
# Who is killed in the middle of a start does not hold it up; and one that is stopped ends when it is asked to.
if [ "$(id -u)" -eq 0 ]; then
        is "an observer that is killed holds no start up" "$(timeout -k 1 200 python3 "$here/helpers/starts.py" "$CORDON" observer)" "ended"
        is "a start that is stopped ends when it is asked to" "$(timeout -k 1 200 python3 "$here/helpers/starts.py" "$CORDON" stop)" "ended"
        wait $left
        is "and one that is left alone, after a minute" "$(cat "$T/left")" "cordon: error: the box was not up after 60 s"
else
        skip "a start whose processes are killed or stopped" "not root"
fi
done_testing
