# Two in the morning, end to end: nobody watches, the ticket is poisoned, the agent obeys. A forge behind TLS, a collector that waits,
# a packet counter on the link, and somebody outside who reads the box's memory while it runs.
# shellcheck disable=SC2086
. "$(dirname "$0")/lib-net.sh"
here=$(dirname "$0")/helpers
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "two in the morning" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
trust_lab || { skip "two in the morning" "this host has no file of roots"; done_testing; }
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
key=AKIAZ7EXAMPLEKEYOFTHENIGHT
printf %s "$secret" >"$T/secret" && chmod 600 "$T/secret"
cp "$here/night.py" "$T/night.py" && chmod 644 "$T/night.py"
cat >"$T/night.policy" <<END
box night
doc "Reads the tickets of acme/web and answers one of them."
use base/python3
read $T/night.py
net https://api.github.test/repos/acme/web/issues/** GET with gh
net https://api.github.test/repos/acme/web/issues/7/comments POST with gh
limit time 2m egress 1M effects 100
expect deny net POST https://api.github.test/repos/acme/web/issues/7
expect deny net GET https://api.github.test/user
expect deny net POST http://collector.test/debug
expect deny read {home}/.aws/credentials
END
chmod 644 "$T/night.policy"
mkdir -p "$T/home/.aws" && printf 'aws_secret_access_key = %s\n' $key >"$T/home/.aws/credentials" && chmod -R a+rX "$T/home"
under() { ps -eo pid=,ppid= | awk -v top="$1" '{ up[$1] = $2 } END { for (p in up) { q = p; while (q in up && q != top) q = up[q]; if (q == top && p != top) print p } }'; }
named() { for p in $(under "$1"); do [ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || echo "$p"; done; }

for who in root as_user; do
        # Whoever watches for hidden paths gives the box a root that nobody else can look into: once without.
        observe=
        [ $who != root ] || observe="--observe calls"
        config=$T/config-$who
        mkdir -m 700 "$config" && [ "$who" = root ] || chown 65533:65533 "$config" 2>/dev/null
        export XDG_CONFIG_HOME="$config"
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$config" "$CORDON" vault add gh --env GITHUB_TOKEN --box-file .netrc --ttl 1h --max-uses 50 >"$T/out" 2>&1
        is "$who: the credential is in the vault" "$? $(cat "$T/out")" "0 "
        for f in github github-heads collector comments dns packets; do : >"$T/lab/$f.log"; done
        lab_anew
        mkfifo -m 666 "$T/go-$who" && : >"$T/status" && chmod 666 "$T/status"
        HOME=$T/home AWS_SECRET_ACCESS_KEY=$key GITHUB_TOKEN=outside $who timeout 120 "$CORDON" run $observe --status-fd 5 -p "$T/night.policy" -- python3 "$T/night.py" "$T/home/.aws/credentials" \
                5>"$T/status" >"$T/out" 2>"$T/err" <"$T/go-$who" 9>&- &
        run=$!
        exec 8>"$T/go-$who"
        for _ in $(seq 1 1100); do # as long as the run may take
                ! grep -q -e '^waiting' "$T/out" && kill -0 $run 2>/dev/null || break
                sleep 0.1
        done
        is "$who: the agent came to its end" "$(tail -n 1 "$T/out")$(cat "$T/err")" waiting

        # ---- while it runs: the box, its keeper and its init do not have the secret; the broker does, so the scan can see ----
        box_pids=$(under $run | while read -r p; do [ "$(cat "/proc/$p/comm" 2>/dev/null)" = cordon-egress ] || [ "$(cat "/proc/$p/comm" 2>/dev/null)" = cordon-resolver ] || echo "$p"; done)
        python3 "$here/memory_scan.py" "$T/secret" $box_pids >"$T/scan" 2>&1
        is "$who: no process of the box or around it has the secret: memory, variables, descriptors, files" "$(grep -v -e '^scanned' -e '^files' "$T/scan")" ""
        ok "$who: and there was something to look through" test "$(sed -n 's/^scanned //p' "$T/scan")" -gt 10000000
        [ $who != root ] || ok "$who: among it the box's own files" test "$(sed -n 's/^files //p' "$T/scan")" -gt 2
        python=$(named $run python3 | tail -n 1)
        has "$who: python3 was among them" " $(echo $box_pids) " " $python "
        if [ "$CORDON_LAB" = root ]; then
                python3 "$here/memory_scan.py" "$T/secret" "$(named $run cordon-egress | head -n 1)" >"$T/scan" 2>&1
                has "$who: the broker has it, so this scan finds what is there" "$(cat "$T/scan")" raw
                grep -q GITHUB_TOKEN "/proc/$python/environ"
                is "$who: and the box's variables were really read" $? 0
        else
                skip "$who: the broker's own memory" "only root of the machine may look into it"
        fi
        # ---- everything that leaves, leaves through the broker: stopped, it lets not one packet out ----
        exec 8>&-
        wait $run
        is "$who: the run ends well" $? 0

        # ---- what the ticket wanted ----
        is "$who: the ticket was read, and is poisoned" "$(grep -c '^read the ticket *200 poisoned' "$T/out")" 1
        is "$who: no key was read" "$(grep -c '^read .*DONE' "$T/out") $(grep -c "$key" "$T/out")" "0 0"
        is "$who: nothing reached the collector, by the agent's own account" "$(grep -c -e REACHED -e RESOLVED "$T/out")" 0
        is "$who: nor by the collector's" "$(cat "$T/lab/collector.log")" ""
        is "$who: the placeholder leaves by no door but its own, in 13 places of 16" "$(grep -c '^placeholder .* refused' "$T/out") $(grep -c '^placeholder .* DONE' "$T/out")" "13 3"
        is "$who: a careless error page comes back starred" "$(grep -c '^a careless error page *404 starred' "$T/out")" 1
        is "$who: the work is done" "$(grep '^honest work' "$T/out" | tr -s ' ') $(tail -n 1 "$T/lab/comments.log")" 'honest work 201 {"body":"nine seconds: an index is missing"}'

        # ---- who got the secret: the forge, on requests that doors cover, and on no other ----
        is "$who: the forge got the real secret on the allowed requests" "$(sort -u "$T/lab/github.log" | grep -v -e '/issues/8 ' -e '/issues/404 ')" \
                "GET /repos/acme/web/issues/7 Bearer $secret
POST /repos/acme/web/issues/7/comments Bearer $secret"
        is "$who: nothing else was asked of it" "$(grep -v -e '^GET /repos/acme/web/issues/\(7\|8\|404\) ' -e '^POST /repos/acme/web/issues/7/comments ' "$T/lab/github.log")" ""
        is "$who: in no other header, and not what the client brought" "$(grep -c -e "$secret" -e attacker -e ghp_ "$T/lab/github-heads.log")" 0
        is "$who: its own host got three comments with the placeholder, worthless there, and none with the secret" "$(wc -l <"$T/lab/comments.log") $(grep -c "$secret" "$T/lab/comments.log")" "4 0"
        # ---- what left ----
        is "$who: packets went to the forge and the name server, and nowhere else" "$(lab_packets)" "tcp 11.22.33.70 443
udp 11.22.33.53 53"
        is "$who: the one name that was asked for is the door's" "$(lab_names)" api.github.test
        # ---- what is written down ----
        hasnt "$who: the result has no secret" "$(cat "$T/status")" Q9zz
        hasnt "$who: nor has what was said" "$(cat "$T/err" "$T/out")" Q9zz
        $who env XDG_CONFIG_HOME="$config" "$CORDON" ledger --json >"$T/ledger" 2>&1
        is "$who: nor the ledger, nor anything of the state" "$(grep -c Q9zz "$T/ledger") $(grep -rla -e Q9zz -e "$(base64 <"$T/secret" | cut -c 5-30)" "$T/state" "$T/state-user" 2>/dev/null)" "0 "
        has "$who: the ledger names the forge" "$(cat "$T/ledger")" api.github.test
        has "$who: and the collector" "$(cat "$T/ledger")" collector.test
        is "$who: the result names each refusal and no line that would give the collector a credential" "$(json '[.net.destinations[] | select(.verdict == "deny") | .permit // ""] | map(select(test("with"))) | length')" 0
        has "$who: a placeholder out of its place is a finding" "$(json '[.net.destinations[].why // ""] | join(";")')" "placeholder"
        has "$who: and so is the server that sent the secret back" "$(json '[.net.destinations[].why // ""] | join(";")')" "secret removed from the response"
done

# ---- nothing leaves but through the broker: with the broker stopped, the box may try what it likes ----
cat >"$T/try.sh" <<'END'
echo ready
read -r _
for i in 1 2 3; do
        curl -sS -m 1 https://api.github.test/repos/acme/web/issues/7
        curl -sS -m 1 http://11.22.33.66/; curl -sS -m 1 'http://[2a00:1111::66]/'
        (echo x >/dev/tcp/11.22.33.70/443) & (echo x >/dev/udp/11.22.33.66/53) & sleep 0.2
done 2>/dev/null
echo tried
read -r _
curl -sS -m 30 -o /dev/null -w '%{http_code}\n' https://api.github.test/repos/acme/web/issues/7
END
chmod 644 "$T/try.sh"
mkfifo "$T/go" && : >"$T/out"
timeout 120 "$CORDON" run --net 'https://api.github.test/**' --read "$T/try.sh" -- bash "$T/try.sh" <"$T/go" >"$T/out" 2>"$T/err" 9>&- &
run=$!
exec 8>"$T/go"
# Not before the box runs: a broker that is stopped while it is being set up holds up the start, and nothing is tried.
for _ in $(seq 1 300); do ! grep -q ready "$T/out" || break; sleep 0.1; done
stopped=$(named $run cordon-egress) resolver=$(named $run cordon-resolver)
kill -STOP $stopped $resolver
lab_anew
echo go >&8
for _ in $(seq 1 600); do ! grep -q tried "$T/out" || break; sleep 0.1; done
is "the broker is stopped, all of it" "$(for p in $stopped $resolver; do awk '$1 == "State:" { print $2 }' "/proc/$p/status"; done | sort | uniq -c | tr -s ' ')" " 2 T"
is "and the box tried" "$(tr '\n' ' ' <"$T/out")" "ready tried "
is "and the link to the outside saw not one packet but the kernel's own talk with its neighbours" "$(lab_packets)" ""
kill -CONT $stopped $resolver
echo go >&8
exec 8>&-
wait $run
is "it goes on: the request goes through" "$(tail -n 1 "$T/out")" 200
has "and the link sees its packets" "$(lab_packets)" "tcp 11.22.33.70 443"
done_testing
