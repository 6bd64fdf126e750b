# What the ledger says of connections is what happened: what was refused did not happen, what was cut is not done, and only the first connection to
# a destination waits for the disk.
. "$(dirname "$0")/lib-net.sh"
of() { "$CORDON" ledger --json --run "$(json .run)" | jq -r "$1"; }
box root --net web.test:80 -- sh -c 'for i in 1 2 3 4; do curl -sS -m 20 http://web.test/$i; done; sleep 1' # the last is closed before the box ends
is "four connections that nobody looks into" "$(tr '\n' ';' <"$T/out")" "GET /1 0;GET /2 0;GET /3 0;GET /4 0;"
is "have one intent" "$(of 'select(.kind == "net" and .phase == "intent") | .target')" "web.test:80"
is "and an outcome each, whose parent it is" "$(of 'select(.kind == "net" and .phase == "outcome") | .result + " " + (.parents[0] | sub(".*[.]"; "")) + " " + (.more.end // "-")')" "done q1 -
done q1 -
done q1 -
done q1 -"
is "nothing is unknown, and nothing counted twice" "$("$CORDON" ledger --json --run "$(json .run)" --kind unknown) $(of 'select(.kind == "net" and .phase == "outcome") | .count // 1' | awk '{ s += $1 } END { print s }')" " 4"
ok "the ledger verifies" "$CORDON" ledger verify
box root --net web.test:80 --net four.test:80 -- sh -c 'curl -sS -m 20 http://web.test/1; curl -sS -m 20 http://four.test/2; curl -sS -m 20 http://web.test/3'
is "each destination has its own" "$(of 'select(.kind == "net" and .phase == "intent") | .target' | tr '\n' ' ')" "web.test:80 four.test:80 "

for host in 127.0.0.1:8080 web.test; do
        box root --net "http://$host/** GET" -- curl -sS -m 10 -o /dev/null -w '%{http_code}' -d "some words that stay here" "http://$host/post"
        is "a POST that is refused at $host" "$(cat "$T/out")" 403
        is "did not happen" "$(of 'select((.kind == "net" or .kind == "request") and .phase != "denied") | .phase + " " + .target + " " + (.result // "")')" ""
        is "and is a denial" "$(of 'select(.phase == "denied" and .more.layer == "egress") | .count')" 1
done
head -c 100000 /dev/zero >"$T/zeros" && chmod 644 "$T/zeros" && chmod 755 "$T"
box root --net 127.0.0.1:8080 --limit 'egress 1000' --read "$T/zeros" -- curl -sS -m 10 --data-binary "@$T/zeros" http://127.0.0.1:8080/post
is "what a limit cut is not done" "$(of 'select(.target == "127.0.0.1:8080" and .phase == "outcome") | .result + " " + (.more.cut | tostring)')" "cut off 1"
box root --net web.test:80 --limit 'egress 1000' --read "$T/zeros" -- curl -sS -m 10 --data-binary "@$T/zeros" http://web.test/post
is "nor beyond oneself" "$(of 'select(.kind == "net" and .phase == "outcome") | .result + " " + .more.end')" "cut off cut"

# What was refused or failed before a byte left reached nobody, in every account of it.
box root --net web.test:80 --net web.test:81 -- sh -c 'curl -sS -m 20 http://web.test/1; curl -sS -m 5 http://web.test:81/'
is "a connection that nobody took" "$(of 'select(.kind == "net" and .phase == "outcome" and .target == "web.test:81") | .more.end')" failed
is "is not among what was reached" "$("$CORDON" ledger reach --json | jq -r 'select(.target == "web.test:81") | .effects')" ""
ok "others are, each of them" test "$("$CORDON" ledger reach --json | jq -r 'select(.target == "web.test:80") | .effects')" -ge 6
"$CORDON" ledger export --format prometheus --run "$(json .run)" >"$T/prom"
is "counters: one was reached" "$(grep -c 'cordon_effects_total{kind="net",phase="outcome",reach="[a-z][a-z]*"} 1$' "$T/prom")" 1
is "and one reached nobody" "$(grep -c 'cordon_effects_total{kind="net",phase="outcome",reach=""} 1$' "$T/prom")" 1
"$CORDON" ledger report "$(json .run)" --postmortem - >"$T/pm"
is "a postmortem has it among what was stopped" "$(sed -n '/^## What refused it/,/^## /p' "$T/pm" | grep -c 'web.test:81') $(sed -n '/^## What got through/,/^## Causes/p' "$T/pm" | grep -c 'web.test:81')" "1 0"
is "and the other among what got through" "$(sed -n '/^## What got through/,/^## Causes/p' "$T/pm" | grep -c 'web.test:80')" 1

# Nor do the bytes of a refused request count on a link that carries others.
long=$(printf '%02000d' 0)
for host in 127.0.0.1:8080 web.test; do
        box root --net "http://$host/** GET" -- curl -sS -m 10 "http://$host/1" --next -sS -m 10 "http://$host/2"
        alone=$(of 'select(.kind == "request" and .phase == "outcome") | .more.sent')
        box root --net "http://$host/** GET" -- curl -sS -m 10 "http://$host/1" --next -sS -m 10 -X DELETE -o /dev/null -w '%{http_code} %{num_connects} ' "http://$host/$long" --next -sS -m 10 "http://$host/2"
        has "a request in between at $host is refused, on the same link" "$(cat "$T/out")" "403 0 "
        is "and its bytes were not sent" "$(of 'select(.kind == "request" and .phase == "outcome") | .more.sent')" "$alone"
done
done_testing
