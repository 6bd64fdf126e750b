#!/bin/sh
# What a person is shown of an effect: bodies as the server will read them, in each coding; nothing out of sight; and what cannot be
# shown is not asked about.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
door='http://web.test/** POST ask'

begin() { # COMMAND...
        : >"$T/status"
        (timeout 60 "$CORDON" run --time 40s --status-fd 5 --read "$T" --net "$door" -- "$@" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-) &
        WAITS=$!
}
end() { wait "$WAITS"; }
shown() { $approver --wait 1 view | jq -r .text; }
refused() { jq -r '[.denials[].reason] | unique | join(" ")' <"$T/status"; }

# ---- codings ----
printf '{"pay":"mallory","amount":5000}' >"$T/plain"
packers="gzip:gzip x-gzip:gzip"
command -v brotli >/dev/null && packers="$packers br:brotli"
command -v zstd >/dev/null && packers="$packers zstd:zstd"
for row in $packers; do
        coding=${row%%:*}
        "${row#*:}" -c <"$T/plain" >"$T/packed"
        begin curl -sS --data-binary @"$T/packed" -H "Content-Encoding: $coding" http://web.test/in
        is "$coding is shown as the server reads it" "$(shown | grep -c '"pay":"mallory"')" 1
        $approver --tty yes >"$T/yes"
        end
        is "$coding leaves as it came" "$(cat "$T/out")" "POST /in $(($(wc -c <"$T/packed")))"
done

# Nobody is asked about what cannot be shown.
unseen() { # NAME REASON FILE FIELD...
        what=$1 reason=$2 file=$3
        shift 3
        begin curl -sS -o /dev/null --data-binary @"$file" "$@" http://web.test/echo
        end
        has "$what is not asked about" "$(refused)" "$reason"
}
gzip -c <"$T/packed" >"$T/twice"
head -c 200000 /dev/zero | gzip -c >"$T/bomb"
unseen "a coding twice" body-packed "$T/twice" -H 'Content-Encoding: gzip, gzip'
unseen "an unknown coding" body-packed "$T/plain" -H 'Content-Encoding: snappy'
unseen "a body that grows beyond what is shown" gate-unclear "$T/bomb" -H 'Content-Encoding: gzip'
{ gzip -c <"$T/plain"; gzip -c <"$T/plain"; } >"$T/two"
unseen "a second member" gate-unclear "$T/two" -H 'Content-Encoding: gzip'
{ printf '\001\000\000\000\003'; printf 'abc'; } >"$T/message"
unseen "a packed message" body-packed "$T/message" -H 'Content-Type: application/grpc'
i=0
while [ $i -lt 5000 ]; do echo x; i=$((i + 1)); done >"$T/long"
unseen "what fills a hundred screens" gate-unclear "$T/long"

# ---- out of sight ----
{
        printf 'first\n'
        i=0
        while [ $i -lt 3000 ]; do printf ' \t\302\240\r\n'; i=$((i + 1)); done | tr -d '\t\240\302'
        printf '%3000s<far right>\n' ''
        printf '\033[2Jclear\342\200\256bidi\342\240\200blank\n'
} >"$T/blank"
begin curl -sS -o /dev/null --data-binary @"$T/blank" http://web.test/echo
shown >"$T/shown"
is "blank lines are counted, not shown" "$(grep -c '3000 blank lines' "$T/shown")" 1
is "and so are blanks" "$(grep -c '3002 blanks}<far right>' "$T/shown")" 1
is "all of it is on one screen" "$(($(wc -l <"$T/shown") < 24))" 1
is "nothing acts on the terminal, or looks like nothing" "$(LC_ALL=C grep -c '[^ -~]' "$T/shown")" 0
$approver --tty no >/dev/null
end

done_testing
