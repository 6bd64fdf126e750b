# `where`: what a request may hold. Each seeded fault is denied with its parameter named, and the server sees nothing of it;
# what is within bounds arrives as it was sent. In the clear and inside TLS.
. "$(dirname "$0")/lib-net.sh"
trust_lab || { skip "bounds on parameters" "this host has no file of roots"; done_testing; }
cp "$(dirname "$0")/helpers/bounds.py" "$T/bounds.py" && chmod 644 "$T/bounds.py"
pay() { grep -c . "$T/lab/pay.log" 2>/dev/null || true; }
none() { : >"$T/lab/pay.log"; lab_anew; }
faults=$(sed -n '/^FAULTS/,/^]/p' "$T/bounds.py" | grep -c "^    ('")
ok "there are faults to send" test "$faults" -gt 60
for who in root as_user; do
        for scheme in http https; do
                port=$([ $scheme = http ] && echo 80 || echo 443) # the round before used the other: its last packets may come late
                door="$scheme://web.test/pay POST where amount=int:1..5000 currency=one:eur|usd memo?=text:80"
                bounded() { box $who --net "$door" --net "$scheme://web.test/pay/find GET where q=text:20 n=int:1..50 only" --net "$scheme://web.test/pay/mail POST where to=one:ops@example.org subject=text:120 in body page?=int:1..9 in query only" --net "$scheme://web.test/pay/team POST where to=list:2:one:ops@example.org|dev@example.org bcc=none sum?=num:0.01..2500 text?=lines:20 in body" "$@"; }
                none
                bounded --read "$T/bounds.py" -- python3 "$T/bounds.py" $scheme faults
                is "$who, $scheme: every seeded fault is denied, and its parameter named" "$(cat "$T/out")" "$faults"
                is "$who, $scheme: and the server was not even called" "$(pay) $(lab_packets | grep -c "^tcp.* $port\$")" "0 0"
                bounded --read "$T/bounds.py" -- python3 "$T/bounds.py" $scheme goods
                is "$who, $scheme: what is within bounds arrives as it was sent" "$(cat "$T/out")" 16
                is "$who, $scheme: each once" "$(pay)" 16
                ok "$who, $scheme: and is seen on its way" test "$(lab_packets | grep -c "^tcp.* $port\$")" -ge 1
                none
                bounded --read "$T/bounds.py" -- python3 "$T/bounds.py" $scheme cuts
                is "$who, $scheme: it does not matter where a request is cut" "$(cat "$T/out")" "166 passed, 168 refused"
                is "$who, $scheme: those that passed arrived" "$(pay)" 166
        done
        # A denial stands wherever denials stand.
        # shellcheck disable=SC2016
        bounded -v -- sh -c 'curl -sS -m 10 -d "amount=9000&currency=eur" http://web.test/pay; curl -sS -m 10 -d "amount=9000&currency=eur" https://web.test/pay'
        say="parameter amount is 9000, and the door permits 1 to 5000" at="POST https://web.test/pay"
        permit="net https://web.test/pay POST where amount=int:1..9000 currency=one:eur|usd memo?=text:80"
        has "$who: the client is told" "$(cat "$T/out")" "cordon: $say"
        is "$who: the result has it" "$(row "$at" deny why)" "$say"
        is "$who: with the least line that would permit it" "$(row "$at" deny permit)" "$permit"
        is "$who: as a denial" "$(json '.denials[] | select(.what | startswith("POST https")) | .what')" "$at ($say)"
        has "$who: the block at the end" "$(cat "$T/err")" "$say"
        has "$who: and the line" "$(cat "$T/err")" "hint: --net '${permit#net }'"
        has "$who: the ledger, too" "$($who "$CORDON" ledger show "$(json .run)" 2>&1)" "$say"
        box $who --net "${permit#net }" -- curl -sS -m 10 -d 'amount=9000&currency=eur' https://web.test/pay
        is "$who: that line permits it" "$(cat "$T/out")" "amount=9000&currency=eur"
        # No value that could be a credential, and no word of the box's own makes it another denial.
        bounded -- curl -sS -m 10 -d 'amount=a credential, a placeholder&currency=eur' https://web.test/pay
        is "$who: words in a value change nothing" "$(json '.denials[] | select(.what | startswith("POST")) | "\(.code) \(.permit)"')" "net null"
        # Bounds hold in every stage; in mock nothing is reached at all.
        printf 'place bank live https://web.test/pay/\nplace bank test https://six.test/pay/\n' >"$T/places"
        printf '{"method":"POST","url":"https://web.test/pay/x","status":200,"body":"mocked"}\n' >"$T/answers"
        chmod 644 "$T/places" "$T/answers"
        for stage in mock test live; do
                none
                [ $stage != mock ] && answers= || answers="--answers $T/answers"
                # shellcheck disable=SC2086
                box $who --stage $stage --places "$T/places" $answers --net '@bank/x POST where amount=int:1..5' -- sh -c 'curl -sS -m 10 -d amount=6 https://web.test/pay/x; curl -sS -m 10 -d amount=5 https://web.test/pay/x'
                has "$who, $stage: out of bounds" "$(cat "$T/out")" "cordon: parameter amount is 6, and the door permits 1 to 5"
                case $stage in
                mock) is "$who, $stage: within" "$(tail -n 1 "$T/out") $(pay)" "mocked 0" ;;
                *) is "$who, $stage: within" "$(tail -n 1 "$T/out" | sed 's/.*5$/5/') $(pay)" "5 1" ;;
                esac
        done
        # What is held counts where it would have counted.
        box $who --net 'http://web.test/pay POST cap 70K where amount=int:1..5' -- sh -c 'head -c 30000 /dev/zero | tr "\0" y >/tmp/y; for i in 1 2; do curl -sS -m 10 -d amount=5 --data-urlencode x@/tmp/y http://web.test/pay | wc -c; done'
        is "$who: a cap on bytes counts what was held" "$(tr '\n' ' ' <"$T/out" | sed 's/ [0-9][0-9] $/ refused/')" "30011 refused"
        box $who --limit 'egress 40K' --net 'http://web.test/pay POST where amount=int:1..5' -- sh -c 'head -c 30000 /dev/zero | tr "\0" y >/tmp/y; curl -sS -m 10 -d amount=5 --data-urlencode x@/tmp/y http://web.test/pay | wc -c'
        is "$who: and the budget of the box counts it once" "$(cat "$T/out")" 30011
        # A run of before is held against bounds as far as the ledger tells.
        box $who --net 'http://web.test/pay POST touches money' -- curl -sS -m 10 -d amount=9 http://web.test/pay
        is "$who: check --against: bodies are not in the ledger" "$($who "$CORDON" check --json --against "$(json .run)" --net 'http://web.test/pay POST where amount=int:1..5' | jq -c '[.refused, .unknown]')" '[[],1]'
done
# A policy on trial with narrower bounds: what it refused is held against the usual one's.
printf 'use base/system\nnet http://web.test/pay POST where amount=int:1..50\nenv A\n' >"$T/usual"
printf 'use base/system\nnet http://web.test/pay POST where amount=int:1..9\nenv A\n' >"$T/tight"
mkdir "$T/trial" && chmod 700 "$T/trial"
trial() { CORDON_STATE=$T/trial timeout 60 "$CORDON" run -q -p "$T/usual" --canary "$T/tight" --canary-share 100 -- curl -sS -m 10 -d "amount=$1" http://web.test/pay 2>&1 9>&-; }
hasnt "what both refuse says nothing of the one on trial" "$(trial 60)" "which the usual policy permits"
has "what the usual one permits does" "$(trial 20)" "which the usual policy permits"
printf 'use base/system\nnet http://web.test/pay POST\nnet four.test:80\n' >"$T/usual"
printf 'use base/system\nnet http://web.test/pay POST\n' >"$T/tight"
has "a name that only the usual one knows speaks against it, too" "$(CORDON_STATE=$T/trial timeout 60 "$CORDON" run -q -p "$T/usual" --canary "$T/tight" --canary-share 100 -- sh -c 'curl -sS http://four.test/ || true' 2>&1 9>&-)" "it refused the name four.test (no net door for this host name), which the usual policy permits"
why=$("$CORDON" why --net 'https://pay.example/v1/charges POST where amount=int:1..5000' net 'https://pay.example/v1/charges?amount=9000' POST)
has "why judges the query" "$why" "parameter amount is 9000, and the door permits 1 to 5000"
has "and says what would permit it" "$why" "permit net https://pay.example/v1/charges POST where amount=int:1..9000"
has "what is ambiguous no line permits" "$("$CORDON" why --net 'https://pay.example/v1 POST where amount=int:1..5' net 'https://pay.example/v1?amount=1&amount=2' POST)" "permit no \`where\` can"
done_testing
