#!/bin/sh
# detach, ps, stop, inspect, logs: finding and ending boxes that run.
# shellcheck disable=SC2016,SC2086,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
# ms COMMAND...: how long it took
ms() { began=$(date +%s%N); "$@" >out 2>err </dev/null; code=$?; ms=$((($(date +%s%N) - began) / 1000000)); }
dead() { case $(cat "/proc/$1/stat" 2>/dev/null) in '' | *') Z '*) ;; *) return 1 ;; esac; } # dead PID
says() { $c logs "$1" | grep -q "$2"; }                                                       # says BOX WORD
lists() { $c ps | grep -q "$1"; }
for who in root as_user; do
        c="$who $CORDON"
        n="t$$-$who"
        n=$(echo "$n" | tr _ -)
        ms $c run -d --name "$n" --time 300s -- sh -c 'echo said; echo erred >&2; sleep 200'
        is "$who: -d ends at once" "$code:$([ $ms -lt 10000 ] && echo soon)" 0:soon
        id=$(cat out)
        ok "$who: and prints the run id" test "$(echo "$id" | grep -Ec '^[0-9]+-[0-9a-f]+-[0-9a-f]{16}$')" = 1
        is "$who: and nothing else" "$(wc -l <out):$(cat err)" "1:"
        soon says "$n" said && soon says "$n" erred
        has "$who: ps lists it" "$($c ps)" "$(short "$id")"
        has "$who: with its name" "$($c ps | grep "$(short "$id")")" "$n"
        has "$who: and its command" "$($c ps | grep "$(short "$id")")" sleep
        odd=$($c run -d -- sh -c 'sleep 60' "$(printf '\033[2J\nforged\342\200\256')")
        has "$who: whose words are inert, whoever chose them" "$($c ps | grep "$(short "$odd")")" 'sh -c sleep 60 \x1b[2J\x0aforged\u{202e}'
        $c stop -k "$odd"
        is "$who: ps --json is a list" "$($c ps --json | jq -r type)" array
        is "$who: with this box in it" "$($c ps --json | jq -r ".[]|select(.run==\"$id\")|.name")" "$n"
        is "$who: inspect by name is its object" "$($c ps --json "$n" | jq -r .run)" "$id"
        has "$who: for people a line for each member" "$($c ps "$n" | sed 's/  */ /')" "
name $n
"
        is "$who: inspect by id" "$($c ps --json "$id" | jq -r .name)" "$n"
        is "$who: inspect by prefix of the id" "$($c ps --json "$(echo "$id" | cut -c1-12)" | jq -r .name)" "$n"
        is "$who: it is up" "$($c ps --json "$id" | jq -r .up)" true
        # What a group counts is a number, each by itself: one may have memory and not the processor, or the other way round.
        counted=$($c run -q --status-fd 9 -- true 9>&1 | jq -c '[.kept_by | .memory, .cpu | if . == "cgroup" then "number" else "null" end]')
        is "$who: what it used is in it, and what nobody counts is no number" "$($c ps --json "$id" | jq -c '[.memory_peak, .cpu_ms | type]')" "$counted"
        ok "$who: memory that is counted is not 0" test "$($c ps --json "$id" | jq '.memory_peak != 0')" = true
        is "$who: the command is in it" "$($c ps --json "$id" | jq -r '.command[0]')" sh
        # A caller that a busy machine holds up between its call and its question.
        if strace -o "$T/probe" true 2>/dev/null && [ -s "$T/probe" ]; then
                is "$who: who is slow to ask is answered" "$($who strace -qq -o /dev/null -e trace=sendmsg -e inject=sendmsg:delay_enter=200000:when=1 "$CORDON" ps --json "$id" | jq -r .run)" "$id"
        else
                skip "$who: who is slow to ask is answered" "strace cannot trace here"
        fi
        has "$who: logs give its output" "$($c logs "$n")" said
        has "$who: and its errors" "$($c logs "$n")" erred
        keeper=$($c ps --json "$id" | jq -r .keeper)
        init=$($c ps --json "$id" | jq -r .init)
        is "$who: the keeper has left the session" "$(cut -d' ' -f6 "/proc/$keeper/stat")" "$keeper"
        is "$who: the keeper holds none of the caller's streams" "$(find "/proc/$keeper/fd" -lname '/dev/null' \( -name 0 -o -name 1 -o -name 2 \) | wc -l)" 3
        if [ "$(id -u)" -eq 0 ] && [ $who = root ]; then
                hasnt "another user's ps does not list it" "$(as_user "$CORDON" ps)" "$(short "$id")"
                as_user "$CORDON" stop "$id" >out 2>err
                is "another user cannot stop it" $? 125
                as_user "$CORDON" logs "$id" >out 2>err
                is "another user cannot read its output" $? 125
                as_user "$CORDON" ps "$n" >out 2>err
                is "another user cannot inspect it" $? 125
        fi
        ms $c stop "$n"
        is "$who: stop by name" "$code" 0
        ok "$who: at once for one that does not ignore TERM ($ms ms)" test $ms -lt 8000
        ok "$who: the keeper is gone" soon dead "$keeper"
        ok "$who: init is gone" soon dead "$init"
        hasnt "$who: ps does not list it any more" "$($c ps)" "$(short "$id")"
        $c ps "$id" >out 2>err
        is "$who: inspect of one that is gone gives 125" $? 125
        has "$who: with an error" "$(cat err)" 'cordon: error:'
        has "$who: and a hint" "$(cat err)" 'cordon: hint:'

        # --- one that ignores TERM ---
        id=$($c run -d --time 300s -- sh -c 'trap "" TERM INT HUP; echo ready; while :; do sleep 1; done')
        init=$($c ps --json "$id" | jq -r .init)
        soon says "$id" ready
        ms $c stop -t 1 "$id"
        is "$who: stop -t 1 of one that ignores TERM" $code 0
        ok "$who: takes its second ($ms ms)" test $ms -ge 900 -a $ms -le 10000
        ok "$who: and it is gone" soon dead "$init"
        id=$($c run -d --time 300s -- sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done')
        soon says "$id" ready
        ms $c stop -k "$(echo "$id" | cut -c1-14)"
        ok "$who: stop -k by prefix is at once ($ms ms)" test $code -eq 0 -a $ms -lt 8000

        # --- one name, one box ---
        a=$($c run -d --name "$n" --time 300s -- sleep 200)
        for how in "" -d; do
                $c run $how --name "$n" -- echo started >out 2>err </dev/null
                is "$who: run $how with a name that a box bears gives 125, and nothing starts" "$?:$(cat out)" 125:
                has "$who: it says so" "$(cat err)" "cordon: error: a running box is already named $n"
                has "$who: and what to do" "$(cat err)" "cordon: hint: \`cordon stop $n\` ends it"
        done
        is "$who: the one that runs is found by it" "$($c ps --json "$n" | jq -r .run)" "$a"
        is "$who: a longer name is another" "$($c run --name "$n-" -- echo begun 2>&1 </dev/null)" begun
        if [ "$(id -u)" -eq 0 ] && [ $who = root ]; then
                is "another user's box may bear that name" "$(as_user "$CORDON" run --name "$n" -- echo begun 2>&1 </dev/null)" begun
        fi
        keeper=$($c ps --json "$a" | jq -r .keeper)
        kill -9 "$keeper"
        soon dead "$keeper"
        is "$who: the name of a killed keeper is free at once" "$($c run --name "$n" -- echo begun 2>&1 </dev/null)" begun
        a=$($c run -d --name "$n" --time 300s -- sleep 200)
        $c stop "$n"
        is "$who: so is that of a stopped box" "$($c run --name "$n" -- echo begun 2>&1 </dev/null)" begun
        for i in 1 2 3 4 5 6 7 8; do ( $c run -d --name "$n" --time 300s -- sleep 200 >race.$i 2>/dev/null </dev/null; echo $? >>race.codes ) & done
        wait
        is "$who: of eight at once one starts" "$(sort race.codes | uniq -c | tr -s ' ' | tr '\n' ',')" " 1 0, 7 125,"
        is "$who: and no other" "$($c ps --json | jq -r "[.[]|select(.name==\"$n\")|.run]|join(\",\")")" "$(cat race.?)"
        rm race.*
        $c stop "$n" -k
        is "$who: stop takes its options behind the name, too" "$?:$($c ps | grep -c "$n")" 0:0
        is "$who: no place for state, no name" "$($who env CORDON_STATE=/proc/no "$CORDON" run --name "$n" -- echo begun 2>&1 </dev/null | sed -n '1s/ cannot be kept.*//p')" "cordon: error: the name $n"
        # Boxes of one policy may run side by side: its `box` line names what they are, not which.
        printf 'box %s\nuse base/system\nlimit time 300s\n' "$n" >"two-$who.cordon"
        chmod 644 "two-$who.cordon"
        a=$($c run -d -p "two-$who.cordon" -- sleep 200)
        b=$($c run -d -p "two-$who.cordon" -- sleep 200)
        $c stop "$n" >out 2>err
        is "$who: a name that two boxes bear is not guessed" $? 125
        has "$who: and it says so" "$(cat err)" "2 boxes"
        is "$who: both still run" "$($c ps | grep -c -e "$(short "$a")" -e "$(short "$b")")" 2
        ms $c stop "$a" "$b"
        is "$who: stop takes several" "$code:$($c ps | grep -c -e "$(short "$a")" -e "$(short "$b")")" 0:0

        # --- its own end, its limits, its failures ---
        id=$($c run -d --status-fd 3 --time 500ms -- sleep 200 3>"$T/status.$who")
        soon test -s "$T/status.$who"
        is "$who: a detached box keeps its limits and writes its status" "$(jq -r .limit <"$T/status.$who")" time
        $c run -d --read /no/such/door -- true >out 2>err </dev/null
        is "$who: a detached start that fails gives 125" $? 125
        has "$who: and says why" "$(cat err)" /no/such/door
        $c run -d -- no-such-program >out 2>err </dev/null
        is "$who: a detached program that is not there gives 127" $? 127
        $c run -d -t -- true >out 2>err </dev/null
        is "$who: -t and -d do not go together" $? 125
        for bad in '' 'a b' 'a/b' "$(printf 'a\nb')" "$(printf %070d 1)"; do
                $c run --name "$bad" -- true >out 2>err </dev/null
                is "$who: the name '$(echo "$bad" | head -c 10 | tr '\n' ' ')' is refused" $? 125
        done
        # A box that does not detach is listed too, and its registry cannot be reached from inside.
        $c run -q --name "fg$n" --time 300s -- sleep 25 >/dev/null 2>&1 </dev/null &
        soon lists "fg$n"
        has "$who: a foreground box is in ps" "$($c ps)" "fg$n"
        is "$who: a box sees no boxes" "$($c run -q --read "$CORDON" -- "$CORDON" ps 2>/dev/null </dev/null | grep -c "fg$n")" 0
        $c stop -k "fg$n" >/dev/null 2>&1
        wait
done
# Many at once: each keeper is asked who it is once, not once for each name, and all hear of it before one is waited for.
m=stop-many-$$
for i in 1 2 3 4 5 6; do "$CORDON" run -d --time 60s --name "$m-$i" -- sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' >>"$T/many"; done
c=$CORDON
for i in 1 2 3 4 5 6; do soon says "$m-$i" ready; done
if strace -f -o "$T/probe" true 2>/dev/null && [ -s "$T/probe" ]; then
        strace -e trace=connect -o "$T/asked" "$CORDON" stop -t 0 "$m-1" "$m-2" "$m-3" >out 2>err
        others=0
        for i in 4 5 6; do others=$((others + $(grep -c "$(sed -n ${i}p "$T/many")" "$T/asked"))); done
        is "stop of three asks each of the other three once" $others 3
else
        skip "stop of three asks each of the other three once" "strace cannot trace here"
        "$CORDON" stop -t 0 "$m-1" "$m-2" "$m-3"
fi
began=$(date +%s%N)
"$CORDON" stop -t 3 "$m-4" "$(sed -n 5p "$T/many")" no-such "$(sed -n 6p "$T/many" | cut -c 1-20)" >out 2>err
is "stop of some, one of which is not there, gives 125" $? 125
took=$((($(date +%s%N) - began) / 1000000))
ok "they wait together ($took ms for three that take 3 s each)" test $took -ge 2900 -a $took -lt 8500
has "and the one is named" "$(cat err)" "no box named no-such"
is "the others are gone" "$("$CORDON" ps | grep -c "$m")" 0
"$CORDON" stop "$(sed -n 5p "$T/many")" >out 2>err
is "stop of a whole id that is gone gives 125" $? 125
has "and says so" "$(cat err)" "no box named $(sed -n 5p "$T/many")"
"$CORDON" stop >out 2>err
is "stop of nothing gives 125" $? 125
"$CORDON" stop no-such-box >out 2>err
is "stop of a box that is not there gives 125" $? 125
# The oldest output goes, the newest stays.
id=$("$CORDON" run -d --output 64M --time 60s -- sh -c 'seq 1 400000; sleep 50')
whole() { "$CORDON" logs "$id" >log; [ "$(tail -n 1 log)" = 400000 ]; }
soon whole
is "logs end with the newest line" "$(tail -n 1 log)" 400000
ok "logs are bounded" test "$(wc -c <log)" -lt 2700000
"$CORDON" stop -k "$id"
"$CORDON" run -d --name "unheard-$$" -- sleep 60 >/dev/full 2>err
is "a run id that cannot be written gives 125" $? 125
id=$(sed -n 's/^cordon: note: the box keeps running; stop it: cordon stop \(.*\)$/\1/p' err)
is "and the box that runs is named" "$("$CORDON" ps --json "unheard-$$" | jq -r .run)" "$id"
is "as it can be stopped" "$("$CORDON" stop -k "$id" && "$CORDON" ps | grep -c "unheard-$$")" 0
done_testing
