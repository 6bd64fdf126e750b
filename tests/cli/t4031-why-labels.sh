#!/bin/sh
# `why` and `expect` answer as a run would: with what it holds by then, with the body of the request, and with the person who
# would be asked.
. "$(dirname "$0")/lib.sh"
cat >"$T/p" <<'P'
box p
net https://mail.example/inbox/** GET label private:mail untrusted
net https://mail.example/send POST accepts private:mail
net https://search.example/** GET
net https://pay.example/x POST where amount=int:1..5 in body ask by 2 of money
P
why() { "$CORDON" why -p "$T/p" "$@" 2>&1; }
code() { "$CORDON" why -p "$T/p" --json "$@" | jq -r '.answer + " " + .code'; }
holds() { # LINE...: does a policy with these lines load?
        { cat "$T/p"; printf '%s\n' "$@"; } >"$T/with"
        "$CORDON" check "$T/with" >/dev/null 2>"$T/err"
}
command -v jq >/dev/null || { skip "why" "jq is not installed"; done_testing; }

is "a run that has read nothing searches" "$(code net GET https://search.example/)" "allow covered"
is "one that has read private mail does not" "$(code net GET https://search.example/ after private:mail)" "deny label-secrecy"
is "and foreign text does not keep it from that" "$(code net GET https://search.example/ after untrusted)" "allow covered"
is "what acts then asks" "$(code net POST https://mail.example/send after untrusted)" "ask covered"
is "with both, all three would meet" "$(code net GET https://search.example/ after untrusted private:mail)" "deny label-trifecta"
has "without a label, why says when it would be refused" "$(why net GET https://search.example/)" "while  the run holds private:mail: refused (label-secrecy)"
has "and when it would ask" "$(why net POST https://mail.example/send)" "while  the run holds untrusted: would ask (label-action)"
is "a program finds the same" "$("$CORDON" why -p "$T/p" --json net GET https://search.example/ | jq -c .while)" '[{"labels":"private:mail","answer":"deny","code":"label-secrecy"}]'
has "why names who is asked" "$(why net POST https://pay.example/x body amount=3)" "2 of money must approve"
is "a body is held against its bounds" "$(code net POST https://pay.example/x body amount=3) $(code net POST https://pay.example/x body amount=9)" "ask covered deny parameter"
is "also one of JSON" "$(code net POST https://pay.example/x body '{"amount":3}') $(code net POST https://pay.example/x body '{"amount":3,"amount":9}')" "ask covered deny parameter"
is "without a body the parameter is missing" "$(code net POST https://pay.example/x)" "deny parameter"
ok "expect has the same words" holds 'expect deny net GET https://search.example/ after private:mail' \
        'expect ask net POST https://mail.example/send after untrusted' 'expect ask net POST https://pay.example/x body amount=3' \
        'expect deny net POST https://pay.example/x body "{\"amount\":9}"'
ok "and they survive printing" sh -c '"$1" policy show --json "$2" >"$2.json" && "$1" check "$2.json"' sh "$CORDON" "$T/with"
holds 'expect allow net GET https://search.example/ after private:mail'
is "an expectation that labels break does not load" "$?" 125
has "and the message says why" "$(cat "$T/err")" label-secrecy
holds 'expect allow net GET https://search.example/ after secret'
has "a word that is no label is an error" "$(cat "$T/err")" "not a label"
has "doors says which doors labels close" "$("$CORDON" doors "$T/p" | grep search.example)" "closes once"
has "and which ask then" "$("$CORDON" doors "$T/p" | grep /send)" "asks once"

# ---- handed over: the run holds it from its start ----
mkdir "$T/docs"
cp "$T/p" "$T/mail"
printf 'read %s/docs label private:x\nnet https://out.example/** GET\n' "$T" >"$T/p"
is "what a run is handed keeps its first request in" "$(code net GET https://out.example/)" "deny label-secrecy"
has "why says what it holds" "$(why net GET https://out.example/)" "while  the run holds private:x: from its start"
has "and what would permit it" "$(why net GET https://out.example/)" "permit accepts private:x, behind the door"
is "expect finds it denied" "$(holds 'expect deny net GET https://out.example/'; echo $?) $(holds 'expect allow net GET https://out.example/'; echo $?)" "0 125"
has "doors calls it closed" "$("$CORDON" doors "$T/p")" "can send nothing to these, for it holds from its start private:x: https://out.example/**"
echo 'rule touch' >>"$T/p"
is "with rule touch it begins without" "$(code net GET https://out.example/)" "allow covered"
has "and why says what it may hold" "$(why net GET https://out.example/)" "while  the run holds private:x: refused"
has "doors says until when" "$("$CORDON" doors "$T/p")" "until it reads what is labelled private:x: https://out.example/**"
echo 'wall process' >>"$T/p"
is "the process wall shuts nothing" "$(code net GET https://out.example/)" "deny label-secrecy"
cp "$T/mail" "$T/p"
has "a method without net is told the word" "$(why GET https://search.example/)" "net GET URL"

sed '1a use base/system' "$T/p" >"$T/used"
"$CORDON" policy flow "$T/used" >"$T/plan"
is "each part of a split uses what the whole did" "$(grep -c '^use base/system' "$T/plan")" 3
sed -n '/^box p-sender/,/^# flow/p' "$T/plan" | grep -v '^#' >"$T/sender"
ok "and a door that asks keeps its terms" "$CORDON" check "$T/sender"
has "beside the declassifying" "$(cat "$T/sender")" "declassify private:mail ask by 2 of money"
for door in 'read /tmp' 'write /tmp' 'env KEY' 'dev /dev/kvm' 'in plan' 'out plan'; do
        printf '%s ask\n' "$door" >"$T/ask"
        "$CORDON" check "$T/ask" 2>"$T/err"
        has "$door: refuses \`ask\` with the reason" "$(cat "$T/err")" "; net, listen, run, sock, sign, decrypt, tool and edit ask"
done
done_testing
