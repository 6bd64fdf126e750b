#!/bin/sh
# What a run leaves in the ledger, permitted effects too, and walking from an effect to its cause.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=root
# field NAME: of the one record on standard input
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p'; }
log() { $who "$CORDON" ledger "$@"; }
# A child of the sealer's kind is nobody's child: looked for by its command line.
sealers() { grep -lsa -F "$T/" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do { tr '\0' ' ' <"$f" | grep '^cordon-ledger seal '; } 2>/dev/null; done; }

for who in $whos; do
        # ---- a fully permitted run yields a complete list ----
        echo input >in.txt && chmod 644 in.txt
        $who "$CORDON" run --name full --in doc --out res --handle doc=in.txt --handle res=/dev/null --write /tmp -- \
                sh -c 'cat "$CORDON_IN_DOC" >/dev/null; echo out; echo err >&2' >/dev/null 2>err.txt </dev/null
        is "$who: where no record fits, that is said" "$($who "$CORDON" ledger --box nosuch 2>&1)" "cordon: note: no matching records"
        run=$(log --json --box full --kind start | tail -n 1 | field run)
        ok "$who: the run is in the ledger" test -n "$run"
        records=$(log --json --run "$run")
        has "$who: its start" "$records" "\"id\":\"$run.start\",\"kind\":\"start\""
        has "$who: with the policy" "$(log --json --run "$run" --kind start)" '"policy":"'
        has "$who: with its trace context" "$(log --json --run "$run" --kind start)" '"trace":{"out":"00-'
        has "$who: what went in, by digest" "$(log --json --run "$run" --kind handle | grep '"door":"in doc"')" \
                "sha256:$(sha256sum in.txt | cut -d ' ' -f 1)"
        has "$who: what came out" "$(log --json --run "$run" --kind output)" "sha256:$(echo out | sha256sum | cut -d ' ' -f 1)"
        has "$who: a write door, as one that was open" "$(log --json --run "$run" --kind claim)" '"target":"/tmp"'
        is "$who: told once" "$(log --json --run "$run" --kind claim | jq -r 'select(.target == "/tmp") | .result')" "open; single uses are not observed"
        has "$who: its end" "$(log --json --run "$run" --kind end)" '"result":"exited 0"'
        is "$who: and all in the order of the logical clock" "$(log --json --run "$run" | field clock | sort -n -c 2>&1)" ""

        mkdir -p w && chmod 777 w
        $who "$CORDON" run -q --name seen --observe all --write "$T/w" -- sh -c "echo 1 >$T/w/a-$who; echo 2 >$T/w/b-$who; echo 3 >/tmp/c" </dev/null
        is "$who: a write door that was used, where somebody looked" "$(log --json --box seen --kind file | jq -r 'select(.phase == "outcome" and .count != null) | .target + " " + (.count | tostring)')" "$T/w 2"
        # Secrets: arguments are a digest, variables are not told, whatever they hold.
        $who env API_TOKEN=s3cr3t-in-env-99 "$CORDON" run -q --name hush --env API_TOKEN --observe denials -- sh -c ': >"/usr/share/$API_TOKEN"' s3cr3t-in-argv-99 </dev/null >/dev/null 2>&1
        hasnt "$who: no argument and no variable is written down, also in a refused path" "$(log --json --box hush)" s3cr3t
        has "$who: which is told all the same" "$(log --json --box hush --kind denied)" "a secret stood here"

        # ---- refusals and limits ----
        $who "$CORDON" run -q --name refused --use base/strict -- python3 -c 'import socket; socket.socket()' >/dev/null 2>&1 </dev/null
        has "$who: a refusal is recorded with what was refused" "$(log --json --box refused --kind denied)" 'socket(AF_INET'
        has "$who: and for people" "$(log --box refused --kind denied)" 'net denied socket(AF_INET, SOCK_STREAM)'
        $who "$CORDON" run -q --name slow --time 100ms -- sleep 5 </dev/null 2>/dev/null
        has "$who: the limit that ended a run" "$(log --box slow --kind limit)" 'time: ended the run'
        $who "$CORDON" run -q --name absent -- /nonexistent </dev/null 2>/dev/null
        has "$who: a program that could not start" "$(log --box absent --kind end)" 'not started'
        $who "$CORDON" run -q --name cut --output 1K -- sh -c 'yes | head -c 100000' </dev/null >/dev/null 2>&1
        is "$who: output that was cut says so" "$(log --json --box cut --kind output | jq -r 'select(.door == "stdout") | .result + " " + (.bytes | tostring)')" "cut at its limit 1024"

        # ---- what a command is known by ----
        digest_of() { log --json --box "$1" --kind start | jq -r .digest; }
        $who "$CORDON" run -q --name words -- echo ab c </dev/null >/dev/null
        $who "$CORDON" run -q --name others -- echo a bc </dev/null >/dev/null
        is "$who: a command is known by its words, each with its end" "$(digest_of words)" "sha256:$(printf 'echo\0ab\0c\0' | sha256sum | cut -d ' ' -f 1)"
        hasnt "$who: so others are another" "$(digest_of others)" "$(digest_of words)"

        # ---- what did not come out ----
        $who "$CORDON" run -q --name half --out res --handle res=/dev/null -- sh -c 'echo half >"$CORDON_OUT_RES"; exit 3' </dev/null
        is "$who: what a run that failed left in a handle did not come out" "$(log --json --box half --kind end | jq -r .result) $(log --json --box half | grep -c '"door":"out res"')" "exited 3 0"

        # ---- a run as a picture ----
        picture=$(log show refused)
        has "$who: show: the command" "$picture" "command  python3"
        has "$who: show: the refusal on the time line" "$picture" "x"
        has "$who: show: its end" "$picture" "exited 1"
        has "$who: show tells when there is no such run" "$(log show nothing-like-it 2>&1)" "the ledger has no run"
        for i in 1 2; do $who "$CORDON" run -q --name twice -- echo "$i" >/dev/null </dev/null; done
        newest=$(log show twice | sed -n 's/^run //p')
        is "$who: show --json of a box is of its newest run alone" "$(log show --json twice | jq -r .run | sort -u)" "$newest"
        is "$who: and without a name of the newest of all" "$(log show --json | jq -r .run | sort -u)" "$newest"
        has "$who: show --json tells when there is no such run, too" "$(log show --json nothing-like-it 2>&1)" "the ledger has no run"

        # ---- causes ----
        $who "$CORDON" run -q --name first -- echo hello | $who "$CORDON" run -q --name second -- tr a-z A-Z >piped.txt
        is "$who: a pipe between boxes works as ever" "$(cat piped.txt)" HELLO
        out=$(log --json --box second --kind output | tail -n 1 | field id)
        first=$(log --json --box first --kind output | tail -n 1 | field id)
        has "$who: trace --back goes through the pipe" "$($who "$CORDON" ledger trace "$out" --back)" "$first"
        has "$who: trace --forward comes back" "$($who "$CORDON" ledger trace --forward "$first")" "$out"
        has "$who: as JSON" "$($who "$CORDON" ledger trace --json --back "$out")" '"way":"back"'
        # two runs that only a file connects
        $who "$CORDON" run -q --name writer -- echo "version $who" >version.txt </dev/null
        $who "$CORDON" run -q --name reader -- wc -c <version.txt >/dev/null
        out=$(log --json --box reader --kind output | tail -n 1 | field id)
        has "$who: a file written by one run and read by another" "$($who "$CORDON" ledger trace --back "$out")" \
                "$(log --json --box writer --kind output | tail -n 1 | field id)"
        # a file that an out handle made says where it is from, and an in handle reads it
        mkdir -p h && chmod 777 h
        $who "$CORDON" run -q --name maker --out res --handle "res=$T/h/made-$who" -- sh -c 'echo made >"$CORDON_OUT_RES"; exec 3>&-' </dev/null >/dev/null 2>&1
        made=$(log --json --box maker --kind handle | tail -n 1 | field id)
        if [ "$(python3 -c "import os; print(os.getxattr('$T/h/made-$who', 'user.cordon.origin').decode())" 2>/dev/null)" = "$made" ]; then
                pass "$who: a file that an out handle made has its origin"
                $who "$CORDON" run -q --name taker --in doc --handle "doc=$T/h/made-$who" -- true </dev/null
                has "$who: and who takes it names it as a parent" "$(log --json --box taker --kind handle)" "$made"
        else
                skip "$who: a file that an out handle made has its origin" "no attributes on files here"
        fi
        # --in-from, trace context, reply
        $who "$CORDON" run -q --name later --in-from "$run" -- true </dev/null
        has "$who: --in-from is a parent" "$(log --json --box later --kind start)" "\"parents\":[\"$run.end\"]"
        for start in later "$(short "$run")"; do
                $who "$CORDON" run -q --name after --in-from "$start" -- true </dev/null
        done
        is "$who: so are a box's name and the start of an id" "$(log --json --box after --kind start | jq -r '.parents[]' | tr '\n' ' ')" \
                "$(log --json --box later --kind end | jq -r .id) $run.end "
        has "$who: --in-from takes no name of nothing" "$($who "$CORDON" run --in-from nonesuch -- true 2>&1)" "--in-from takes a run id"
        has "$who: --in-from takes only ids" "$($who "$CORDON" run --in-from 'a b' -- true 2>&1)" "--in-from takes a run id"
        parent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
        $who env TRACEPARENT=$parent "$CORDON" run -q --name traced -- env >env.txt </dev/null
        has "$who: the caller's trace context is recorded" "$(log --json --box traced --kind start)" "\"in\":\"$parent\""
        has "$who: the run has a span of its own in it" "$(log --json --box traced --kind start)" '"out":"00-4bf92f3577b34da6a3ce929d0e0e4736-'
        hasnt "$who: it does not enter the box" "$(cat env.txt)" TRACEPARENT
        $who env TRACEPARENT=$parent "$CORDON" run -q --name inside --env TRACEPARENT -- env >env.txt </dev/null
        has "$who: unless a door lets it, and then the run's own" "$(cat env.txt)" "$(log --json --box inside --kind start | field out)"
        reply=$($who "$CORDON" ledger note --from build-server "$first" "the build failed")
        ok "$who: a reply gets an id" test -n "$reply"
        has "$who: and is found from its cause" "$($who "$CORDON" ledger trace --forward "$first")" "$reply"
        has "$who: a reply to nothing is refused" "$($who "$CORDON" ledger note nobody.1 x 2>&1)" "the ledger has no record"

        # ---- other questions ----
        has "$who: field: all effects on a target" "$(log target 'socket(AF_INET*')" "net denied"
        is "$who: field: nothing on a target that nobody touched" "$(log target /no/such/target)" ""
        has "$who: reached: nobody yet" "$(log reach)" "no effects beyond this host"
        is "$who: since: nothing is newer than the future" "$(log --since 2100-01-01)" ""
        has "$who: since: an hour has it all" "$(log --since 1h --box full)" "$run"
        has "$who: a time that is none" "$(log --since yesterday 2>&1)" "is not a time"
        has "$who: a kind that there is not is told" "$(log --kind refused 2>&1)" "no records of the kind \`refused\`"
        kinds=$(sed -n '/^\.It Fl -kind/,/^\.It Fl -target/s/^\.Pq Li //p' "$CORDON_SOURCE/man/cordon-ledger.1" | tr -d ',')
        is "$who: those of the manual are known" "$(for kind in $kinds unknown; do log --kind "$kind" 2>&1 >/dev/null | grep kind; done; echo "$kinds" | wc -w)" 27
        has "$who: to look leaves a trace" "$(log --json --kind view)" '"target":"refused"'
        $who "$CORDON" run -q --name followed -- true </dev/null
        rm -f follow.txt # what the one before wrote would be taken for this one's until its shell empties it
        log -f --json --box followed >follow.txt 2>/dev/null &
        follower=$!
        soon grep -q '"kind":"end"' follow.txt
        written=$(wc -l <follow.txt)
        later() { [ "$(wc -l <follow.txt)" -gt "$written" ]; }
        $who "$CORDON" run -q --name followed -- true </dev/null
        soon later
        kill "$(pgrep -P $follower)" # the child of a shell that runs our functions
        wait $follower 2>/dev/null
        has "$who: follow tells what is written later" "$(tail -n +$((written + 1)) follow.txt)" '"box":"followed"'

        # ---- off, require, and when it cannot be written ----
        $who "$CORDON" run -q --name silent --ledger off -- true </dev/null
        is "$who: --ledger off leaves nothing" "$(log --json --box silent)" ""
        has "$who: and says so" "$($who env CORDON_LEDGER=off "$CORDON" run -q --json -- true 2>&1 </dev/null)" '"ledger":"off: asked for"'
        result=$($who env CORDON_STATE=/proc/nowhere "$CORDON" run -q --json -- echo ran 2>&1 </dev/null)
        has "$who: a ledger that cannot be written does not stop a run without consequence" "$result" ran
        has "$who: and the result says why" "$result" '"ledger":"off: the state directory'
        is "$who: people are told, too" "$($who env CORDON_STATE=/proc/nowhere "$CORDON" run -- echo ran 2>&1 >/dev/null </dev/null | cut -d: -f1-3)" "cordon: note: the ledger is incomplete for this run"
        is "$who: but not that they asked for it" "$($who env CORDON_STATE=/proc/nowhere "$CORDON" run --ledger off -- echo ran 2>&1 </dev/null)" ran
        result=$($who env CORDON_STATE=nowhere "$CORDON" run --ledger off -- echo ran 2>&1 </dev/null)
        is "$who: a place that is none is no place for another" "$?" 125
        is "$who: and that is told" "$(echo "$result" | head -n 1)" "cordon: error: CORDON_STATE is nowhere, which is not an absolute path"
        result=$($who env CORDON_STATE=/proc/nowhere "$CORDON" run --require-ledger -- echo ran 2>&1 </dev/null)
        has "$who: --require-ledger refuses" "$result" "--require-ledger: "
        hasnt "$who: and nothing ran" "$result" "ran
"
        # A start that fails outside of the box, when its start is written already.
        $who env CORDON_LIBEXEC=/nowhere "$CORDON" run -q --name begun --require-ledger --net 127.0.0.1:9 -- true >/dev/null 2>&1 </dev/null
        is "$who: a start that was recorded and failed has an end" "$(log --json --box begun | jq -r '.id |= sub(".*[.]"; "") | .id + " " + (.result // "-") + " " + (.more.error // "-")')" \
                "start - -
end failed 0 the program cordon-egress is not installed"
        # ---- kill -9 leaves the start ----
        $who "$CORDON" run -q --name killed -- sleep 60 >/dev/null 2>&1 </dev/null &
        begun() { [ -n "$(log --json --box killed 2>/dev/null)" ]; }
        soon begun
        shows() { log show killed | grep -q -x "  end      $1"; }
        ok "$who: a run that goes on has no end yet, and show says so" soon shows "none yet: it is running"
        has "$who: and so does its page" "$(log report killed --html -)" "none yet: it is running"
        # $! is a shell's, which runs our functions.
        kill -9 "$($who "$CORDON" ps --json "$(log --json --box killed --kind start | field run)" | jq .keeper)"
        wait $! 2>/dev/null
        has "$who: a killed keeper has left its start" "$(log --json --box killed)" '"kind":"start"'
        has "$who: and show says that its end is unknown" "$(log show killed)" "unknown: no keeper answers for it here"
done

# ---- no process stays ----
who=root
lingers() { "$CORDON" run -q -- true </dev/null; [ -n "$(sealers)" ]; } # each look has a run of its own: one may come too late
ended() { [ -z "$(sealers)" ]; }
ok "the sealer lingers a little" soon lingers
ok "and ends by itself" soon ended
done_testing
