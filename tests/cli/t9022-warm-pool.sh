#!/bin/sh
# `warm`: the line of the policy, and parked boxes that hold an interpreter. Each serves one run; what cannot be served so
# starts cold, and the result says why.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
root() { "$@"; }
before=$(orphans)

# --- the line ---
printf 'box w\nwarm node\nwarm python3 import json re\n' >"$T/d/p" && chmod 644 "$T/d/p"
is "its canonical form" "$("$CORDON" policy show "$T/d/p" | grep '^warm')" "warm python3 import json re
warm node"
is "as JSON, and back" "$("$CORDON" policy show --json "$T/d/p" >"$T/d/p.json" && "$CORDON" policy show "$T/d/p.json" | grep '^warm')" "warm python3 import json re
warm node"
printf 'box w\n' >"$T/d/other"
has "a difference between policies is shown" "$("$CORDON" policy diff "$T/d/other" "$T/d/p" 2>&1)" "warm node"
for bad in 'warm' 'warm ruby' 'warm python3 json' 'warm python3 import' 'warm python3 import ../x -c' 'warm python3\nwarm python3' 'warm node require a;b'; do
        printf "%b\n" "$bad" >"$T/bad"
        hasnt "refused: $bad" "$("$CORDON" check "$T/bad" 2>&1 && echo holds)" "ok, policy"
done
hasnt "no interpreter behind the wasm wall" "$(printf 'warm node\nwall wasm\n' >"$T/bad"; "$CORDON" check "$T/bad" 2>&1 && echo holds)" "ok, policy"
if ! [ -x /usr/bin/python3 ]; then
        skip "runs in warm boxes" "python3 is not installed"
        done_testing
        exit
fi

is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
ready() { soon is_ready; }
how() { run run --json -p "$T/d/p" "$@" 2>&1 >/dev/null | tail -n 1 | jq -r '.start + " " + (.start_why // "")'; }
# Quiet: a host may have a note of its own, that it cannot report blocked paths.
warm() { run run -q --pool require -p "$T/d/p" "$@"; }
printf 'box w\nuse base/system\nwarm python3 import json\nwarm node\nlimit time 20s\n' >"$T/d/p"
printf 'box w\nuse base/system\nwarm python3 import nosuchmodule\n' >"$T/d/broken" && chmod 644 "$T/d/broken"

for who in root as_user; do
        rt=$T/rt.$who
        mkdir -m 700 "$rt" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$rt"; }
        serve
        ok "$who: boxes with the first interpreter of the policy" run serve pool add --size 4 -p "$T/d/p"
        ok "$who: are parked" ready
        is "$who: and used" "$(how -- python3 -c pass)" "warm "
        ready
        is "$who: its modules are there" "$(warm -- python3 -c 'import sys; print("json" in sys.modules, sys.argv)' a)" "True ['-c', 'a']"
        ready
        is "$who: two runs have no state in common" "$(for i in 1 2; do warm -- python3 -c 'import os, random; print(hash("x"), random.random()); print(os.listdir("/tmp")); open("/tmp/mark", "w")'; ready; done | sort | uniq -c | awk '{ print $1 }' | paste -s -d ' ')" "1 1 2"
        is "$who: messages and status" "$(warm -- python3 -c 'raise SystemExit("over")' 2>&1; echo $?)" "over
1"
        ready
        is "$who: standard error with standard output" "$(warm -- python3 -c 'import sys
for i in range(3): print("o", flush=True); print("e", file=sys.stderr)' 2>&1 | paste -s -d ' ')" "o e o e o e"
        ready
        is "$who: input" "$(echo text | $who env XDG_RUNTIME_DIR="$rt" timeout 60 "$CORDON" run --pool require -p "$T/d/p" -- python3 -c 'print(input())')" text
        ready
        is "$who: walls, limits and descriptors are those of a new box" "$(warm -- python3 -c 'import os; os.system("ulimit -a; ls /proc/self/fd; grep -E \"^(Uid|Gid|Groups|Cap|NoNew|Seccomp:|TracerPid)\" /proc/self/status; ls -A /; env | sort; pwd")')" \
                "$(run run --pool off -p "$T/d/p" -- python3 -c 'import os; os.system("ulimit -a; ls /proc/self/fd; grep -E \"^(Uid|Gid|Groups|Cap|NoNew|Seccomp:|TracerPid)\" /proc/self/status; ls -A /; env | sort; pwd")')"
        ready
        is "$who: the time limit" "$(warm --limit 'time 300ms' -- python3 -c 'while True: pass' >/dev/null 2>&1; echo $?)" 124
        ready
        is "$who: a denial is reported" "$(run run --json --pool require -p "$T/d/p" -- python3 -c 'open("/etc/shadow")' 2>&1 >/dev/null | tail -n 1 | jq -r '.denials[].path' | grep shadow)" /etc/shadow
        ready

        is "$who: by its path it is the same program" "$(how -- /usr/bin/python3 -c pass)" "warm "
        ready
        is "$who: with the words of the run" "$(warm -- /usr/bin/python3 -c 'import sys; print(sys.orig_argv[0], sys.executable)')" "/usr/bin/python3 /usr/bin/python3"
        ready
        is "$who: a run without reports" "$(warm -q -- python3 -c 'print(1)')" 1
        ready

        # What is not served so.
        is "$who: other options" "$(how -- python3 -u -c pass)" "cold the warm python3 does not serve these options"
        is "$who: another program" "$(how -- true)" "cold the policy's \`warm\` is of another program"
        is "$who: a variable" "$(how --env PYTHONVERBOSE= -- python3 -c pass)" "cold the warm python3 does not serve PYTHONVERBOSE"
        is "$who: another environment" "$(how --env A=b -- python3 -c pass)" "cold no box is parked for this plan; $T/d/p differs in: the variables of the interpreter"
        is "$who: another cpu limit" "$(how --limit 'cpu 5s' -- python3 -c pass)" "cold no box is parked for this plan; $T/d/p differs in: the limit of cpu, which the interpreter has"
        is "$who: the process wall" "$(how --wall process -- python3 -c pass)" "cold a warm interpreter needs the namespace wall"
        ok "$who: those boxes are still there" ready
        run serve pool rm --all >/dev/null

        # A module that does not exist is reported where the boxes are.
        is "$who: an import that fails fails the command" "$(run serve pool add --size 1 -p "$T/d/broken" 2>"$T/err"; echo $?)" 125
        has "$who: with the reason" "$(cat "$T/err")" "parking a box failed: warming python3: ModuleNotFoundError"
        has "$who: which the run has too" "$(run run --json -p "$T/d/broken" -- python3 -c pass 2>&1 | tail -n 1 | jq -r .start_why)" "parking a box failed: warming python3: Mod"
        says_why() { run serve pool ls --json | jq -r '.[].error' | grep -q "warming python3: ModuleNotFoundError"; }
        ok "$who: an import that fails is reported" soon says_why
        is "$who: and the run starts cold" "$(run run -p "$T/d/broken" -- python3 -c 'print(1)' 2>/dev/null)" 1
        run serve pool rm --all >/dev/null

        if [ -x /usr/bin/node ]; then
                ok "$who: node" run serve pool add --size 1 -p "$T/d/p" -- node
                ready
                is "$who: is warm" "$(how -- node -e 0)" "warm "
                ready
                is "$who: prints, and exits" "$(warm -- node -e 'console.log(process.argv.slice(1)); process.exitCode = 3' a 2>&1; echo $?)" "[ 'a' ]
3"
                is "$who: not from standard input" "$(how -- node -)" "cold the warm node does not serve these options"
        else
                skip "$who: node" "node is not installed"
        fi
        kill -TERM "$serve"
        ok "$who: all of it ends" soon gone "$serve"
        serve --auto
        is "$who: once" "$(how -- python3 -c pass)" "cold no box is parked for this plan"
        is "$who: twice" "$(how -- python3 -c pass)" "cold no box is parked for this plan"
        ok "$who: a plan that is seen twice" ready
        is "$who: is warm the third time, whatever the program" "$(how -- python3 -c 'print(1)')" "warm "
        kids=$(pgrep -P "$serve")
        kill -9 "$serve"
        ends() { for p in $kids; do gone "$p" || return 1; done; }
        ok "$who: killed, it leaves nothing" soon ends
done
ok "no control group is left" none_left
done_testing
