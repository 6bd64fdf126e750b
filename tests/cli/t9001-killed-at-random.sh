#!/bin/sh
# kill -9 of the keeper, of init, of the janitor and of the payload at random moments: nothing is left of the run.
# alone: looks for files and mounts that nobody else may make meanwhile.
# shellcheck disable=SC2013,SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile hog
if [ "$(id -u)" -eq 0 ]; then user="setpriv --reuid 65533 --regid 65533 --clear-groups"; else user=""; fi

# left TAG KEEPER: what is still there of a run whose command line or name holds TAG
left() {
        echo "$1" >pattern
        grep -lsa -F -f pattern /proc/[0-9]*/cmdline /proc/[0-9]*/comm | sed -n 's,^/proc/\([0-9]*\)/.*,process \1,p'
        find /sys/fs/cgroup -name "cordon-$2-*" 2>/dev/null
}
# gone TAG KEEPER: true as soon as nothing is; what is left stands in leftovers, and is ended so that it cannot disturb what follows
gone() {
        nothing() { left "$1" "$2" >leftovers; [ ! -s leftovers ]; }
        ! soon nothing "$1" "$2" || return 0
        while read -r kind p; do [ "$kind" != process ] || kill -9 "$p" 2>/dev/null; done <leftovers
        return 1
}
ended() { case $(cat "/proc/$1/stat" 2>/dev/null) in '' | *') Z '*) ;; *) return 1 ;; esac; } # ended PID
child() { # child KEEPER COMM: the pid of its child of that name
        for p in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
                [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$2" ] && echo "$p"
        done
}
# Sets $init and $payload, a sleep, when it runs: before that, an init that is killed is a start that failed.
await_payload() {
        running() { init=$(child $keeper cordon-init); payload=$(child "${init:-0}" sleep); [ -n "$payload" ]; }
        soon running
}
before_mounts=$(grep -c cordon /proc/self/mountinfo)
touch marker
# What the rounds begin with is random; when one fails, its name says enough to repeat it.
od -An -v -N 400 -tu1 -w2 /dev/urandom >dice

round() { # round WHO WALL VICTIM DELAY_MS NUMBER
        tag=kill9-$$-$5
        prefix=""
        [ "$1" = root ] || prefix=$user
        # shellcheck disable=SC2086
        (exec $prefix "$CORDON" run -q --wall "$2" --read "$T/hog" --time 30s -- "$T/hog" cpu 20 2 $tag) >/dev/null 2>&1 </dev/null &
        keeper=$!
        sleep "0.0$(printf %02d "$4")"
        case $3 in
        keeper) kill -9 $keeper 2>/dev/null ;;
        init) # also the process that starts it, which has its name and ends by itself
                for p in $(child $keeper cordon-init); do kill -9 "$p" 2>/dev/null; done
                sleep 0.05
                kill -9 $keeper 2>/dev/null
                ;;
        lone_init) # the keeper must see it and end by itself
                init=$(child $keeper cordon-init)
                if [ -n "$init" ]; then
                        # shellcheck disable=SC2086
                        kill -9 $init 2>/dev/null
                        soon ended $keeper || echo "keeper still there" >&2
                fi
                kill -9 $keeper 2>/dev/null
                ;;
        janitor)
                for p in $(child $keeper cordon-janitor); do kill -9 "$p"; done
                kill -TERM $keeper
                ;;
        both) # the keeper, then the janitor: what the janitor began, it may not have ended
                jan=$(child $keeper cordon-janitor)
                kill -9 $keeper
                for p in $jan; do kill -9 "$p"; done
                ;;
        stopped)
                kill -STOP $keeper
                kill -9 $keeper
                ;;
        esac
        wait $keeper 2>/dev/null
        [ "$3" = both ] && "$CORDON" doctor >/dev/null 2>&1
        gone "$tag" $keeper
}

n=0
bad=0
while read -r a b; do
        n=$((n + 1))
        [ $n -le 100 ] || break
        case $((a % 8)) in
        0 | 1 | 2) victim=keeper ;;
        3) victim=init ;;
        4) victim=lone_init ;;
        5) victim=janitor ;;
        6) victim=both ;;
        *) victim=stopped ;;
        esac
        if [ $((n % 2)) -eq 0 ]; then who=root; else who=user; fi
        if ! round $who namespace $victim $((b % 40)) $n 2>noise || [ -s noise ]; then
                bad=$((bad + 1))
                fail "round $n: $who, $victim killed after $((b % 40)) ms: nothing is left" "$(cat leftovers noise)"
        fi
done <dice
is "100 rounds of kill -9 behind the namespace wall leave nothing" $bad 0

bad=0
n=100
while read -r a b; do
        n=$((n + 1))
        [ $n -le 120 ] || break
        case $((a % 3)) in 0) victim=init ;; 1) victim=lone_init ;; *) victim=keeper ;; esac
        if [ $((n % 2)) -eq 0 ]; then who=root; else who=user; fi
        if ! round $who process $victim $((20 + b % 40)) $n 2>noise || [ -s noise ]; then
                bad=$((bad + 1))
                [ $bad -gt 3 ] || fail "round $n: $who, process wall, $victim killed after $((20 + b % 40)) ms: nothing is left" "$(cat leftovers noise)"
                [ $bad -lt 6 ] || break
        fi
done <dice
is "20 rounds of kill -9 behind the process wall leave nothing" $bad 0

# Daemons that left the payload's session go with the keeper, too.
for who in root user; do
        for wall in namespace process; do
                prefix=""
                [ $who = root ] || prefix=$user
                tag=d9$$$who
                # shellcheck disable=SC2086
                (exec $prefix "$CORDON" run -q --wall $wall --read "$T/hog" -- sh -c "$T/hog daemon 60 $tag; sleep 60") >/dev/null 2>&1 </dev/null &
                keeper=$!
                # shellcheck disable=SC2009
                ok "$who, $wall: the daemon was there" soon sh -c "cat /proc/[0-9]*/comm 2>/dev/null | grep -q $tag"
                kill -9 $keeper
                wait $keeper 2>/dev/null
                ok "$who, $wall: a daemon of the box dies with the keeper" gone $tag $keeper
        done
done

# A payload that is killed from outside ends the run as any signal does.
for who in root user; do
        prefix=""
        [ $who = root ] || prefix=$user
        # shellcheck disable=SC2086
        (exec $prefix "$CORDON" run -q --json -- sleep 20) >/dev/null 2>json </dev/null &
        keeper=$!
        await_payload
        kill -9 "$payload"
        wait $keeper
        is "$who: a payload killed from outside gives 137" $? 137
        is "$who: and its signal is told" "$(jq .signal <json)" 9
        # shellcheck disable=SC2086
        (exec $prefix "$CORDON" run -q --json -- sleep 20) >/dev/null 2>json </dev/null &
        keeper=$!
        await_payload
        # It is there a moment before init has said so; killed then, the box did not start.
        # shellcheck disable=SC2086
        up() { $prefix "$CORDON" ps --json "$keeper-" | jq -e .up; }
        soon up
        kill -9 "$init"
        wait $keeper
        is "$who: init killed from outside gives 137" $? 137
        is "$who: and the object is whole" "$(jq -r .end <json)" signaled
done
is "no mount was left" "$(grep -c cordon /proc/self/mountinfo)" "$before_mounts"
# The private files of a process-wall box go with the next such box of their user.
for who in "" "$user"; do $who env HOME=/nonexistent "$CORDON" run -q --ledger off --wall process -- true 2>/dev/null; done
is "no file was left in /tmp" "$(find /tmp /var/tmp /dev/shm -maxdepth 1 -name '*cordon*' -newer marker ! -name 'cordon-test*' 2>/dev/null)" ''
is "no named network namespace was left" "$(find /run/netns -newer marker -type f 2>/dev/null)" ''
done_testing
