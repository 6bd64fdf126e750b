#!/bin/sh
# What a payload starts with: variables, descriptors, directory, umask, names, session. Nothing else.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
usual="CLICOLOR COLORTERM FORCE_COLOR LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NUMERIC LC_PAPER LC_TIME NO_COLOR TZ"
# shellcheck disable=SC2086
unset $usual
mkdir -p here/sub && chmod -R a+rX here
export AWS_SECRET_ACCESS_KEY=hunter2 SSH_AUTH_SOCK=/tmp/agent PASSED=passed LD_PRELOAD='' LD_LIBRARY_PATH=/evil PYTHONPATH=/evil IFS_LEAK=1 EMPTY=
for who in root as_user; do
        box() { $who env LD_LIBRARY_PATH=/evil "$CORDON" run -q "$@" </dev/null 2>&1; }
        names() { cut -d= -f1 | sort | tr '\n' ' '; }
        is "$who: five variables and no more" "$(box -- env | names)" "HOME LANG PATH TERM USER "
        is "$who: behind the process wall the place of its temporary files, too" "$(box --wall process -- env | names)" "HOME LANG PATH TERM TMPDIR USER "
        # Time zone, language and colours of the caller, and of them only values that look like one.
        set_all() { for v in $usual; do echo "$v=x-$v"; done; }
        # shellcheck disable=SC2046
        is "$who: the caller's zone, language and colours pass, and nothing beside them" \
                "$(env $(set_all) LC_SECRET=x-no TZDIR=x-no COLUMNS=7 "$CORDON" run -q -- env </dev/null | sed -n 's/=x-.*//p' | sort | tr '\n' ' ')" "$usual "
        # shellcheck disable=SC2046
        is "$who: behind the process wall, too" \
                "$(env $(set_all) "$CORDON" run -q --wall process -- env </dev/null | sed -n 's/=x-.*//p' | sort | tr '\n' ' ')" "$usual "
        is "$who: what looks like none does not pass" "$(env TZ='$(id)' LANG="a b" "$CORDON" run -q -- env </dev/null | names)" "HOME LANG PATH TERM USER "
        is "$who: and LANG is the box's then" "$(env LANG="a b" "$CORDON" run -q -- sh -c 'echo $LANG' </dev/null)" C.UTF-8
        is "$who: a door goes before them" "$(TZ=Asia/Tokyo box --env TZ=UTC0 -- sh -c 'echo $TZ')" UTC0
        is "$who: why says so" "$("$CORDON" why --json env TZ | jq -r .answer)" allow
        is "$who: HOME is the box's" "$(box -- sh -c 'echo $HOME')" /home/box
        mkdir -p own/.cache/tool own/work/data && echo x >own/work/data/f && chmod -R a+rwX own
        below() { $who env HOME="$T/own" "$CORDON" run --read "$T/own/work/data" --write "$T/own/.cache/tool" --read "$T/here" -- sh -c "$1" </dev/null 2>&1; }
        is "$who: what has a door below the caller's home is found by ~" "$(below 'cat ~/work/data/f && echo n >~/.cache/tool/new')$(cat own/.cache/tool/new)" xn
        is "$who: and nothing else of it" "$(below 'echo ~/* ~/.[a-z]* ~/work/*')" "/home/box/work /home/box/.cache /home/box/work/data"
        is "$who: beside it the box's own files" "$(below 'echo a >~/work/b && echo c >~/.cache/d && cat ~/work/b ~/.cache/d | tr -d "\n"')$(ls own/work own/.cache | tr '\n' ' ')" "acown/.cache: tool  own/work: data "
        rm -f own/.cache/tool/new
        is "$who: USER is the box's" "$(box -- sh -c 'echo $USER')" box
        is "$who: PATH is not the caller's" "$(PATH="/evil:$PATH" box -- sh -c 'echo $PATH')" /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        is "$who: TERM without a terminal is dumb" "$(box -- sh -c 'echo $TERM')" dumb
        is "$who: env NAME passes one" "$(box --env PASSED -- env | grep -v -e ^HOME= -e ^LANG= -e ^PATH= -e ^TERM= -e ^USER=)" PASSED=passed
        is "$who: env NAME that is not set is not there" "$(box --env NOT_SET -- env | names)" "HOME LANG PATH TERM USER "
        is "$who: env NAME that is empty is there" "$(box --env EMPTY -- sh -c 'echo ${EMPTY-unset}')" ''
        is "$who: env NAME=VALUE sets one" "$(box --env 'A=b c=d' -- sh -c 'echo "$A"')" 'b c=d'
        is "$who: env NAME= sets it empty" "$(box --env A= -- sh -c 'echo "[${A-unset}]"')" '[]'
        is "$who: env can set one of the five" "$(box --env LANG=xx -- env | grep -c -e '^LANG=xx$' -e ^LANG=C)" 1
        is "$who: a name that is none is refused" "$(box --env '1A=x' -- true >/dev/null; echo $?)" 125
        is "$who: an empty name is refused" "$(box --env '=x' -- true >/dev/null; echo $?)" 125

        # A repository behind a door: git compares owners, and every owner is another here.
        mkdir -p repo/.git there && chmod -R a+rX repo
        five="GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 HOME LANG PATH TERM USER "
        is "$who: a repository brings git's three along" "$(box --read "$T/repo" -- env | names)" "$five"
        is "$who: an edit door its own: local clones there link nothing" "$(mkdir -p edited && chmod 777 edited && box --edit "$T/edited" -- sh -c 'echo "$GIT_CONFIG_KEY_0 $GIT_CONFIG_VALUE_0"')" "url.file://$T/edited.insteadOf $T/edited"
        is "$who: also when only the directory one works in is one" "$(cd repo && box --read "$T" -- env | names)" "$five"
        is "$who: they are not there for a repository that the box does not see" "$(cd repo && box --read "$T/here" -- env | names)" "HOME LANG PATH TERM USER "
        is "$who: nor where the policy says what git shall read" "$(box --env GIT_CONFIG_COUNT=0 --read "$T/repo" -- env | grep -c GIT)" 1
        is "$who: nor behind the process wall, whose ids are the caller's" "$(box --wall process --read "$T/repo" -- env | names)" "HOME LANG PATH TERM TMPDIR USER "

        # --- descriptors: the caller holds 200 ---
        is "$who: 200 open descriptors of the caller do not get in" "$(bash -c '
                for i in $(seq 3 202); do eval "exec $i</etc/passwd"; done
                [ "$(ls /proc/self/fd | wc -l)" -gt 200 ] || echo "not held"
                '"$([ $who = root ] || [ "$(id -u)" -ne 0 ] || echo setpriv --reuid 65533 --regid 65533 --clear-groups)"' "$0" run -q -- sh -c "ls /proc/\$\$/fd" </dev/null' "$CORDON" | sort -n | tr '\n' ' ')" "0 1 2 "
        is "$who: nor behind the process wall" "$(bash -c '
                for i in $(seq 3 202); do eval "exec $i</etc/passwd"; done
                '"$([ $who = root ] || [ "$(id -u)" -ne 0 ] || echo setpriv --reuid 65533 --regid 65533 --clear-groups)"' "$0" run -q --wall process -- python3 -c "
import os
n = []
for i in range(1024):
    try:
        os.fstat(i); n.append(i)
    except OSError: pass
print(*n)" </dev/null' "$CORDON" | tail -n 1)" "0 1 2"
        # Nor does init keep them: a pipe among them would not end before the box does.
        for wall in namespace process; do
                if [ "$(id -u)" -ne 0 ]; then
                        skip "$who: init of the $wall wall keeps none" "only root may look at it"
                        continue
                fi
                # shellcheck disable=SC2016
                $who bash -c 'for i in $(seq 3 202) 900; do eval "exec $i</etc/passwd"; done; exec "$0" run -q --name "held-$1-$2" --wall "$1" -- sleep 60' "$CORDON" $wall $$ </dev/null 2>/dev/null &
                began=$!
                keeper='' init=''
                for _ in $(seq 200); do
                        sleep 0.1
                        read -r keeper init <<END
$($who "$CORDON" ps --json "held-$wall-$$" 2>/dev/null | jq -r 'select(.up) | "\(.keeper) \(.init)"')
END
                        [ -z "$init" ] || break
                done
                is "$who: init of the $wall wall keeps none" "$([ "$(find "/proc/$keeper/fd/" -lname /etc/passwd | wc -l)" -lt 200 ] || echo 200 or more):$(for p in $init $(pgrep -P "$init"); do [ "$(cat "/proc/$p/comm")" = sleep ] || find "/proc/$p/fd/" -lname /etc/passwd; done | wc -l)" "200 or more:0"
                $who "$CORDON" stop -k "held-$wall-$$" >/dev/null
                wait $began
        done
        is "$who: a socket of the caller does not get in as input" "$(box -- readlink /proc/self/fd/0 | cut -d: -f1)" pipe
        is "$who: output is a pipe of ours" "$($who "$CORDON" run -q -- readlink /proc/self/fd/1 </dev/null >o; cut -d: -f1 o)" pipe

        # --- directory ---
        is "$who: without a door, the home" "$(cd here/sub && box -- pwd)" /home/box
        is "$who: with a door over it, the caller's directory" "$(cd here/sub && box --read "$T/here" -- pwd)" "$T/here/sub"
        is "$who: a door elsewhere is not it" "$(cd /opt && box --read "$T/here" -- pwd)" /home/box
        is "$who: --cwd" "$(box --cwd /usr/bin -- pwd)" /usr/bin
        is "$who: --cwd that the box does not see gives 125" "$(box --cwd "$T/here" -- true >/dev/null; echo $?)" 125
        is "$who: --cwd that is relative is meant from here, and seen no more for it" "$(box --cwd here -- true >/dev/null; echo $?)" 125
        is "$who: with a door it is entered" "$(cd "$T" && box --read "$T/here" --cwd ./x/../here -- pwd)" "$T/here"
        # CVE-2024-21626: a descriptor that the walls still hold must not become the directory.
        entered=""
        i=0
        while [ $i -lt 72 ]; do
                box --cwd /proc/self/fd/$i -- true >/dev/null && entered="$entered $i"
                i=$((i + 1))
        done
        is "$who: --cwd /proc/self/fd/N enters none of 72" "$entered" ""
        is "$who: --cwd /proc/thread-self/fd/37 neither" "$(box --cwd /proc/thread-self/fd/37 -- true >/dev/null; echo $?)" 125
        is "$who: --cwd /dev/fd/37 neither" "$(box --cwd /dev/fd/37 -- true >/dev/null; echo $?)" 125
        is "$who: --cwd that is a file gives 125" "$(box --cwd /etc/passwd -- true >/dev/null; echo $?)" 125
        # "$PWD" is a path through links, where the kernel's own name of the directory is none.
        ln -sfn here way && echo text >here/sub/f && chmod a+r here/sub/f
        is "$who: through a link, the directory is where the door shows it" "$(cd way && box --read "$T/way" -- sh -c 'pwd; cat sub/f')" "$T/way
text"
        is "$who: also from below the door" "$(cd way/sub && box --read "$T/way" -- sh -c 'pwd; cat f')" "$T/way/sub
text"
        is "$who: and above it" "$(cd way && box --read "$T/way/sub" -- sh -c 'pwd; cat sub/f')" "$T/way
text"
        out=$(mkdir gone && cd gone && rmdir "$T/gone" && box -- pwd)
        case $out in
        /home/box | "cordon: error: "*directory*) pass "$who: from a directory that was removed it starts, or says why not" ;;
        *) fail "$who: from a directory that was removed it starts, or says why not" "$out" ;;
        esac
        is "$who: the old directory cannot be reached" "$(box -- sh -c 'readlink /proc/self/cwd; readlink /proc/self/root')" "/home/box
/"

        # --- the rest ---
        is "$who: umask" "$(umask 0; box -- sh -c umask)" 0022
        is "$who: no more open than the caller's" "$(umask 077; box -- sh -c umask) $(umask 0727; box -- sh -c umask)" "0077 0027"
        is "$who: modes of what is its own do not depend on it" "$(umask 0777; box -- sh -c 'stat -c %a /etc/passwd /home/box; id -un')" "444
700
box"
        mkdir -m 700 "$T/state.$who"
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$T/state.$who"
        (umask 0177 && export CORDON_STATE="$T/state.$who" && box --name odd -- true && box --name odd -- true) >/dev/null
        is "$who: and the state is its owner's to use" "$(umask 0177 && CORDON_STATE="$T/state.$who" $who "$CORDON" ledger --box odd --kind end 2>&1 | wc -l)" 2
        is "$who: the host name is box" "$(box -- uname -n)" box
        is "$who: a session of its own" "$(box -- sh -c 'read -r pid x x x pgrp sid tty x </proc/$$/stat; [ $sid = $$ ] && [ $pgrp = $$ ] && echo own tty $tty')" "own tty 0"
        is "$who: pid 2, child of init" "$(box -- sh -c 'echo $PPID')" 1
        has "$who: no controlling terminal" "$(box -- sh -c 'cat /dev/tty')" "No such"
        is "$who: niceness is the caller's" "$(box -- nice)" "$(nice)"
        before=$(date +%s)
        now=$(box -- date +%s)
        ok "$who: the time is the host's" test "$now" -ge "$before" -a "$now" -le "$(date +%s)"
        is "$who: in UTC" "$(box -- date +%Z)" UTC
        is "$who: arguments pass unchanged" "$(box -- printf '<%s>' '' 'a b' '*' '$HOME' "$(printf 'x\ny')" '--' '-n' 'ü')" "<><a b><*><\$HOME><x
y><--><-n><ü>"
        is "$who: 4000 arguments" "$(box -- sh -c 'echo $#' $(seq 4000))" 3999
        is "$who: too many arguments are refused" "$(box -- true $(seq 5000) >/dev/null; echo $?)" 125
        is "$who: an empty command is refused" "$(box -- '' >/dev/null; echo $?)" 125
        # Its processes begin on other cores than their makers; in the end all are the box's, each time.
        for wall in namespace "namespace without cgroup" process; do
                is "$who: the cores are the caller's ($wall, 60 boxes)" \
                        "$(for _ in $(seq 60); do box --wall "$wall" -- nproc; done | sort | uniq -c | tr -s ' ')" " 60 $(nproc)"
        done
        is "$who: also where they are fewer" "$($who taskset -c 0 "$CORDON" run -q -- nproc)" 1
done
# What watches a box holds three descriptors, and none that is the payload's: /dev/fuse, the line to the keeper, a /proc.
if [ "$(id -u)" -eq 0 ] && [ -w /dev/fuse ]; then
        "$CORDON" run --observe denials --name "watched-$$" --in doc --handle doc=/etc/passwd -- sleep 60 </dev/null >/dev/null 2>&1 &
        began=$! init=''
        for _ in $(seq 200); do
                sleep 0.1
                init=$("$CORDON" ps --json "watched-$$" 2>/dev/null | jq -r 'select(.up).init')
                [ -z "$init" ] || break
        done
        is "what watches holds what it needs" "$(find "/proc/$(pgrep -P "$init" -x cordon-observer)/fd/" -type l | wc -l):$(find "/proc/$(pgrep -P "$init" -x cordon-observer)/fd/" -lname /dev/fuse | wc -l)" 3:1
        "$CORDON" stop -k "watched-$$" >/dev/null
        wait $began
else
        skip "what watches holds what it needs" "only root may look, and nothing watches without /dev/fuse"
fi
# Nor does the name of the domain, which a program asks the kernel for together with the host's.
if [ "$(id -u)" -eq 0 ] && unshare -u true 2>/dev/null; then
        case $(uname -m) in aarch64) uname=160 ;; *) uname=63 ;; esac
        names="\$b = \"\\0\" x 400; syscall($uname, \$b); print join ' ', (unpack '(Z65)6', \$b)[1, 5]"
        inside() { unshare -u sh -c 'echo host.test >/proc/sys/kernel/hostname; echo domain.test >/proc/sys/kernel/domainname; exec "$@"' sh "$@" </dev/null; }
        is "outside, host and domain have names" "$(inside perl -e "$names")" "host.test domain.test"
        is "a box has its own" "$(inside "$CORDON" run -q -- perl -e "$names")" "box "
else
        skip "a box has its own names of host and domain" "only root can give the host others"
fi
done_testing
