#!/bin/sh
# logs: the output of a detached box, while it runs and when it is over; bounded, of its owner alone, and gone with the run's other state.
# shellcheck disable=SC2016,SC2086,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
# over ID: its keeper, whose number is in it, is gone
gone() { case $(cat "/proc/${1%%-*}/stat" 2>/dev/null) in '' | *') Z '*) ;; *) return 1 ;; esac; }
over() { soon gone "$1"; }
says() { [ "$($c logs "$1" | wc -l)" -ge "$2" ]; } # says BOX N: so many lines by now
known() { $c ps "$1"; }
mkdir "$T/gate"

for who in root as_user; do
        c="$who $CORDON"
        state=$(state_of $who)
        n=$(echo "l$$-$who" | tr _ -)
        # --- while it runs, and afterwards ---
        id=$($c run -d --name "$n" --time 60s --read "$T/gate" -- sh -c 'echo said; echo erred >&2; until [ -e "$1" ]; do sleep 0.1; done; sleep 1; echo last; printf "\\000\\377end"' sh "$T/gate/$who")
        soon says "$n" 2
        is "$who: while it runs nothing is on the disk" "$(find "$state/logs" -type f 2>/dev/null | wc -l)" 0
        is "$who: what it has said by now" "$($c logs "$n" | sort | tr '\n' ' ')" "erred said "
        : >"$T/gate/$who"
        $c logs -f "$n" >followed 2>err
        is "$who: -f ends with the box" $? 0
        is "$who: and has its last words, byte for byte" "$(tail -n +3 followed | od -An -c | tr -d ' \n')" 'last\n\0377end'
        over "$id"
        $c logs "$n" >after
        is "$who: of one that is over" $? 0
        is "$who: the same" "$(od -An -c <after)" "$(od -An -c <followed)"
        is "$who: by its id" "$($c logs "$id" | tr -d '\000' | head -n 1 | grep -c -e said -e erred)" 1
        is "$who: by the beginning of it" "$($c logs "${id%-*}" | cksum)" "$(cksum <after)"
        is "$who: -f of one that is over does not wait" "$($who timeout 5 "$CORDON" logs --follow "$id" | cksum)" "$(cksum <after)"
        is "$who: its owner alone can read it" "$(stat -c %a "$state/logs" "$state/logs/$id" | tr '\n' ' ')" "700 600 "
        hasnt "$who: ps lists boxes that run" "$($c ps)" "$(short "$id")"
        id2=$($c run -d --name "$n" --time 30s -- echo second)
        over "$id2"
        is "$who: of two with one name, the newest" "$($c logs "$n")" second
        twin="$state/logs/${id%????}beef"
        cp -p "$state/logs/$id" "$twin"
        $c logs "$(echo "$id" | cut -c 1-20)" >out 2>err
        is "$who: a beginning that two have is not guessed, one that nobody has is told" "$?:$($c logs 0-no-such >/dev/null 2>&1; echo $?)" 125:125
        rm "$twin"
        has "$who: with a hint" "$($c logs no-such-box 2>&1)" "cordon: hint: "
        id3=$($c run -d --time 30s -- sh -c :)
        over "$id3"
        is "$who: one that said nothing said nothing" "$($c logs "$id3" 2>&1; echo $?)" 0
        # --- only of detached boxes ---
        before=$(find "$state/logs" -type f | wc -l)
        $c run -q --no-stdin -- echo here >/dev/null
        is "$who: a box that was not detached leaves no such file" "$(find "$state/logs" -type f | wc -l)" "$before"
        $c run -q --no-stdin --name "fg$n" --time 30s -- sleep 25 &
        soon known "fg$n"
        has "$who: and says where its output is" "$($c logs "fg$n" 2>&1; echo $?)" "was not started with --detach"
        $c stop -k "fg$n"
        wait
        # --- how much ---
        id=$($c run -d --output 1000 --time 30s -- sh -c 'yes | head -n 100000')
        over "$id"
        is "$who: limit output bounds it" "$($c logs "$id" | wc -c)" 1000
        id=$($c run -d --output 64M --time 60s -- sh -c 'seq 1 600000')
        over "$id"
        is "$who: the newest is kept" "$($c logs "$id" | tail -n 1)" 600000
        ok "$who: no more than 1 MB" test "$(stat -c %s "$state/logs/$id")" -le 1048832
        id=$($c run -d --output 64M --time 60s -- sh -c 'for i in $(seq 1 40); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.02; done')
        is "$who: who follows misses nothing and hears nothing twice" "$($c logs -f "$id" | cksum)" "$(seq 1000 40999 | cksum)"
        # --- hostile words ---
        id=$($c run -d --time 30s -- printf 'a\033]0;title\007b\033[2Jc\nx\342\200\256y\n%02000d\n' 7)
        over "$id"
        if [ $who = root ] || [ "$(id -u)" -ne 0 ]; then
                terminal env CORDON_STATE="$state" "$CORDON" logs "$id" >shown
                is "$who: on a terminal no control byte is left" "$(tr -d '\r\n' <shown | tr -d '[:print:]' | wc -c)" 0
                has "$who: but the text" "$(cat shown)" 'title'
                is "$who: a long line is whole" "$(grep -c '^0\{1999\}7' shown)" 1
        fi
        is "$who: elsewhere, bytes as they came" "$($c logs "$id" | head -n 1 | od -An -tx1 | tr -d ' \n')" 611b5d303b7469746c6507621b5b324a630a
        # --- something else in its place ---
        log="$state/logs/$id"
        mv "$log" kept && ln -s /etc/passwd "$log"
        is "$who: a link in place of the file is not followed" "$($c logs "$id" 2>/dev/null | wc -c; $c logs "$id" >/dev/null 2>&1; echo $?)" "0
125"
        rm "$log" && mkfifo "$log" && { [ "$(id -u)" -ne 0 ] || chown --reference=kept "$log"; }
        is "$who: a fifo holds nobody up" "$($who timeout 5 "$CORDON" logs "$id" >/dev/null 2>&1; echo $?)" 125
        rm "$log" && printf 'cordon-ledger 2 9 x\nsecret' >"$log" && { [ "$(id -u)" -ne 0 ] || chown --reference=kept "$log"; }
        is "$who: what a later version wrote is not guessed" "$($c logs "$id" 2>/dev/null | wc -c)" 0
        truncate -s 3M "$log"
        is "$who: nor what is too large" "$($c logs "$id" >/dev/null 2>&1; echo $?)" 125
        rm "$log"
        if [ "$(id -u)" -eq 0 ]; then
                printf 'cordon-ledger 1 9 x\nnot mine' >"$log" && chown 65532 "$log" && chmod 644 "$log"
                is "$who: nor what somebody else wrote" "$($c logs "$id" 2>/dev/null | wc -c)" 0
                rm "$log"
        fi
        # --- a link where the file would be put: it is not written through ---
        id=$($c run -d --time 30s -- sh -c 'sleep 1; echo late')
        mkdir -p "$T/aside" && echo untouched >"$T/aside/f" && chmod 666 "$T/aside/f"
        ln -s "$T/aside/f" "$state/logs/$id"
        over "$id"
        is "$who: a link that waits at its name is not written through" "$(cat "$T/aside/f")" untouched
        rm -f "$state/logs/$id"
        # --- a keeper that is held up: waited for, and not taken for gone ---
        id=$($c run -d --time 60s --read "$T/gate" -- sh -c 'echo one; until [ -e "$1" ]; do sleep 0.1; done; echo two' sh "$T/gate/$who-two")
        keeper=$($c ps --json "$id" | jq -r .keeper)
        $c logs -f "$id" >out 2>err &
        follower=$!
        soon grep -q one out
        kill -STOP "$keeper"
        : >"$T/gate/$who-two"
        sleep 2.5
        has "$who: one that does not answer is told" "$($c logs "$id" 2>&1)" "did not answer"
        kill -CONT "$keeper"
        wait $follower
        is "$who: who follows waits, and misses nothing" "$?:$(tr '\n' ' ' <out)" "0:one two "
        # --- a keeper that is killed ---
        id=$($c run -d --time 60s -- sh -c 'echo before; sleep 50')
        keeper=$($c ps --json "$id" | jq -r .keeper)
        $c logs -f "$id" >out 2>err &
        follower=$!
        soon grep -q before out
        kill -9 "$keeper"
        wait $follower
        is "$who: who followed a box whose keeper is killed is told" "$?:$(cat out)" 125:before
        is "$who: and nothing is left of it" "$(find "$state" -name "*$id*" -path '*/logs/*')" ""
        # --- it goes with the rest of the run ---
        mkdir -p "$T/tree.$who" && { [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown 65533:65533 "$T/tree.$who"; }
        id=$($c run -d --time 30s --edit "$T/tree.$who" -- sh -c "echo words; echo x >$T/tree.$who/x")
        over "$id"
        is "$who: with an edit door" "$($c logs "$id")" words
        $c discard "$id" 2>/dev/null
        is "$who: discard of the run takes it along" "$(find "$state/logs" -name "$id" | wc -l)" 0
        id=$($c run -d --time 30s -- echo old)
        over "$id"
        $c log prune --older 1h >/dev/null 2>&1
        is "$who: prune leaves what is younger" "$($c logs "$id")" old
        sleep 2.1
        $c log prune --older 1s --kind net >/dev/null 2>&1
        is "$who: and what is of another kind" "$($c logs "$id")" old
        $c log prune --older 1s --kind output >out 2>&1
        is "$who: and takes what is older" "$(find "$state/logs" -type f | wc -l)" 0
        # --- state that cannot be written: the box ends as it would ---
        if [ $who = root ] || [ "$(id -u)" -ne 0 ]; then
                rm -rf "$state/logs" && : >"$state/logs"
                id=$($c run -d --ledger off --status-fd 3 --time 30s -- echo x 3>status)
                over "$id"
                is "$who: what cannot be kept changes no end" "$(jq -r '.end + " " + (.exit | tostring)' status)" "exited 0"
                rm "$state/logs"
        fi
done
# How many: the oldest go.
c=$CORDON
for i in $(seq 1 70); do id=$("$c" run -d --ledger off --time 20s -- echo "$i"); [ "$i" -gt 1 ] || first=$id; echo "$id"; done >started
while read -r each; do over "$each"; done <started
is "the newest 64 are kept" "$(find "$CORDON_STATE/logs" -type f | wc -l)" 64
is "the newest is there, the first is not" "$("$c" logs "$id") $(find "$CORDON_STATE/logs" -name "$first" | wc -l)" "70 0"
touch "$CORDON_STATE/logs/not-ours"
id=$("$c" run -d --ledger off --time 20s -- echo more)
over "$id"
ok "what is not ours there stays" test -f "$CORDON_STATE/logs/not-ours"
# A clock that was set back: all others are younger, and the one that has just ended is kept.
find "$CORDON_STATE/logs" -type f ! -name not-ours -exec touch -d '+1 day' {} +
id=$("$c" run -d --ledger off --time 20s -- echo set back)
over "$id"
is "after the clock was set back the newest is there, too" "$("$c" logs "$id")" "set back"
done_testing
