# What the ledger says of connections is what happened: what was refused did not happen, what was cut is not done, and only the first connection to
# a destination waits for the disk.
. "$(dirname "$0")/lib-net.sh"
of() { "$CORDON" log --json --run "$(json .run)" | jq -r "$1"; }
box root --net web.test:80 -- sh -c 'for i in 1 2 3 4; do curl -sS -m 20 http://web.test/$i; done'
is "four connections that nobody looks into" "$(tr '\n' ';' <"$T/out")" "GET /1 0;GET /2 0;GET /3 0;GET /4 0;"
is "have one intent" "$(of 'select(.kind == "net" and .phase == "intent") | .target')" "web.test:80"
is "and an outcome each, whose parent it is" "$(of 'select(.kind == "net" and .phase == "outcome") | .result + " " + (.parents[0] | sub(".*[.]"; "")) + " " + (.more.end // "-")')" "done q1 -
done q1 -
done q1 -
done q1 -"
is "nothing is unknown, and nothing counted twice" "$("$CORDON" log --json --run "$(json .run)" --kind unknown) $(of 'select(.kind == "net" and .phase == "outcome") | .count // 1' | awk '{ s += $1 } END { print s }')" " 4"
ok "the ledger verifies" "$CORDON" verify
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
done_testing
