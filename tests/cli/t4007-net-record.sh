# Recording: what a run asked and was answered becomes a file that answers the same run without a network.
. "$(dirname "$0")/lib-net.sh"
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
ask='for u in /v1/x /v1/x?a=1\&b=%20 /bytes/300; do curl -sS -m 10 http://web.test$u; done; curl -sS -m 10 -d body http://web.test/v1/x; curl -sS -m 10 -o /dev/null -w "%{http_code}\n" http://web.test/git/none'
for who in root as_user; do
        d=$T/$who && mkdir "$d" && [ $who = root ] || chown 65533:65533 "$d" 2>/dev/null
        box $who --net 'http://web.test/**' --record "$d/file" -- sh -c "$ask"
        cp "$T/out" "$T/live"
        is "$who: the run goes as ever" "$status $(head -n 1 "$T/out")" "0 GET /v1/x 0"
        is "$who: the result counts what was recorded" "$(json '.net | "\(.recorded) \(.unrecorded)"')" "5 0"
        has "$who: and says what to type next" "$(cat "$T/err")" "recorded 5 exchanges; replay: cordon run --stage mock --answers $d/file"
        box $who --net 'http://web.test/**' --record "$d/a 'b' \$(c)" -- curl -sS http://web.test/v1/x
        is "$who: as a shell takes it" "$(eval "printf %s $(sed -n 's/.*replay: cordon run --stage mock --answers \(.*\) \.\.\./\1/p' "$T/err")")" "$d/a 'b' \$(c)"
        rm -f "$d/a 'b' \$(c)"
        is "$who: one line for each" "$(jq -r '.method + " " + .url + " " + (.status | tostring)' "$d/file")" "GET http://web.test/v1/x 200
GET http://web.test/v1/x?a=1&b=%20 200
GET http://web.test/bytes/300 200
POST http://web.test/v1/x 200
GET http://web.test/git/none 404"
        is "$who: for the owner only" "$(stat -c %a "$d/file")" 600
        is "$who: and nothing else is there" "$(find "$d" -type f | wc -l)" 1
        : >"$T/lab/dns.log"
        before=$(lab_packets | wc -l)
        box $who --net 'http://web.test/**' --stage mock --answers "$d/file" -- sh -c "$ask"
        is "$who: played back, every answer is the same" "$(cmp "$T/out" "$T/live" 2>&1)" ""
        is "$who: without a packet or a name outside" "$(lab_names)$(($(lab_packets | wc -l) - before))" 0
        box $who --net 'http://web.test/**' --stage mock --answers "$d/file" -- curl -sS -m 10 http://web.test/v1/other
        has "$who: what was not recorded is refused" "$(cat "$T/out")" "no recorded answer"

        # A status that few servers say, recorded and played back.
        box $who --net 'http://web.test/**' --record "$d/odd" -- curl -sS -m 10 -w '%{http_code}' http://web.test/odd/999
        is "$who: a status beyond 599 is recorded" "$(tr '\n' ' ' <"$T/out") $(jq .status "$d/odd")" "no 999 999"
        box $who --net 'http://web.test/**' --stage mock --answers "$d/odd" -- curl -sS -m 10 -w '%{http_code}' http://web.test/odd/999
        is "$who: and played back" "$(tr '\n' ' ' <"$T/out")" "no 999"
        rm "$d/odd"

        # What is too long or no exchange is left out, and said.
        box $who --net 'http://web.test/**' --record "$d/long" -- sh -c 'curl -sS -m 20 -o /dev/null http://web.test/bytes/2000000; curl -sS -m 10 http://web.test/short'
        is "$who: an answer over 1M is left out and counted" "$(json '.net | "\(.recorded) \(.unrecorded)"') $(wc -l <"$d/long")" "1 1 1"
        has "$who: and said" "$(cat "$T/err")" "1 not recorded"

        # Refused before anything starts.
        # A broker that dies has not seen all: no file, and the run says why.
        : >"$T/out" && : >"$T/status" && chmod 666 "$T/status"
        $who timeout 100 "$CORDON" run --status-fd 5 --net 'http://web.test/**' --record "$d/died" -- sh -c 'while curl -sS -m 20 http://web.test/v1/x; do echo asked; sleep 0.1; done' \
                5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&- &
        run=$!
        for _ in $(seq 1 200); do ! grep -q asked "$T/out" || break; sleep 0.1; done
        ps -eo pid=,ppid=,comm= | awk -v top=$run '{ up[$1] = $2; name[$1] = $3 }
                END { for (p in name) { q = p; while (name[p] == "cordon-egress" && q in up && q != top) q = up[q]; if (q == top && p != top) print p } }' | xargs -r kill -9
        wait $run
        has "$who: what a broker recorded that died is not kept" "$(cat "$T/err")" "could not be kept in"
        hasnt "$who: there is no such file" " $(ls -a "$d") " died
        box $who --net 'http://web.test/**' --record "$d/file" -- true
        is "$who: a recording is never written over" "$status $(grep -c 'there already' "$T/err")" "125 1"
        box $who --net 'http://web.test/**' --record "$d/none/file" -- true
        is "$who: a directory that is not there stops the start" "$status $(grep -c 'cannot be made' "$T/err")" "125 1"
        box $who --net 'http://web.test/**' --stage mock --record "$d/other" -- true
        is "$who: the stage mock has nothing to record" "$status $(grep -c 'nothing can be recorded' "$T/err")" "125 1"
        box $who --net web.test:80 --record "$d/other" -- true
        is "$who: nor has a door that sees bytes only" "$status $(grep -c 'https://host/\*\*' "$T/err")" "125 1"
        ln -s "$d/elsewhere" "$d/link"
        box $who --net 'http://web.test/**' --record "$d/link" -- true
        is "$who: a link is not followed" "$status $(test -e "$d/elsewhere" && echo there)" "125 "
        # A name that somebody takes while the box runs is not taken from them.
        box $who --net 'http://web.test/**' --record "$d/taken" --write "$d" -- sh -c "curl -sS -m 10 http://web.test/v1/x; echo mine >$d/taken; ls -a $d"
        is "$who: a file that appeared meanwhile stays" "$status $(cat "$d/taken")" "125 mine"
        has "$who: and the run says that nothing was kept" "$(cat "$T/err")" "the recording could not be kept"
        # Killed: nothing is left. The keeper may be a grandchild of ours.
        family() { echo "$1"; for child in $(pgrep -P "$1"); do family "$child"; done; }
        : >"$T/out" # the shell below opens it later than we look into it
        $who "$CORDON" run --net 'http://web.test/**' --record "$d/killed" -- sh -c 'curl -sS -m 10 http://web.test/v1/x; sleep 30' >"$T/out" 2>"$T/err" </dev/null 9>&- &
        run=$!
        for _ in $(seq 100); do
                ! grep -q GET "$T/out" || break
                sleep 0.1
        done
        for p in $(family "$run"); do
                [ "$(cat "/proc/$p/comm" 2>/dev/null)" != cordon ] || kill -9 "$p"
        done
        wait $run 2>/dev/null
        is "$who: a killed run leaves no file of it" "$(ls -A "$d")" "file
link
long
taken"
done

# With a credential: the recording holds neither the secret nor what stood for it.
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        export XDG_CONFIG_HOME="$T/home"
        mkdir -m 700 "$T/home"
        printf %s "$secret" | "$CORDON" vault add gh --env TOKEN >/dev/null 2>&1
        printf %s "$secret" | "$CORDON" vault add key --env KEY --query key >/dev/null 2>&1
        box root --net 'http://web.test/echo/** with gh' --net 'http://web.test/q/** with key' --record "$T/with" -- \
                sh -c 'curl -sS -m 10 -H "Authorization: Bearer $TOKEN" http://web.test/echo/me; curl -sS -m 10 "http://web.test/q/x?key=$KEY&n=1"; echo "$TOKEN $KEY"'
        tail -n 1 "$T/out" | tr ' ' '\n' >"$T/placeholders"
        is "both were recorded" "$(jq -r .url "$T/with")" "http://web.test/echo/me
http://web.test/q/x?n=1"
        is "neither the secret nor a placeholder is in it" "$(grep -c -F -e Q9zz -f "$T/placeholders" "$T/with")" 0
        is "nor is it in base64" "$(grep -c -F "$(printf %s "$secret" | base64 | cut -c 5-25)" "$T/with")" 0
        box root --net 'http://web.test/echo/** with gh' --net 'http://web.test/q/** with key' --stage mock --answers "$T/with" -- \
                sh -c 'curl -sS -m 10 -H "Authorization: Bearer none" http://web.test/echo/me; curl -sS -m 10 "http://web.test/q/x?key=whatever&n=1"'
        has "played back without the vault: the first" "$(cat "$T/out")" "you said"
        has "and the second, whatever key the client brings" "$(cat "$T/out")" "GET /q/x"
else
        skip "recordings with credentials" "cordon-vault is not built here: it needs OpenSSL"
fi
done_testing
