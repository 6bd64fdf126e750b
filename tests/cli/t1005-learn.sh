#!/bin/sh
# cordon learn with real programs: the policy that is learned passes fresh runs with other inputs, prints what the
# program prints outside, and has at most 1.3 times the doors of one made by hand. Programs whose doors this build cannot
# hold yet are skipped, and say so.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
D=$(mktemp -d /srv/cordon-learn.XXXXXX 2>/dev/null || mktemp -d "$HOME/.cordon-learn.XXXXXX") || exit 1
trap 'code=$?; rm -rf "$T" "$D"; exit $code' EXIT
chmod 755 "$D"
c=$CORDON
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin # as in a box: no shims
export PATH
FRESH=${FRESH:-20}
mkdir -p "$D/home/.ssh" "$D/home/.aws" "$D/work"
HOME=$D/home
export HOME
cd "$D/work" || exit 1

edit_holds() { mkdir -p "$D/e" && "$c" run -q --edit "$D/e" -- true >/dev/null 2>&1; }
net_holds() { "$c" run -q --net example.com:443 -- true >/dev/null 2>&1; }
# doors FILE: every path, program, variable and policy that a line opens.
doors() {
        awk '$1 ~ /^(read|edit|write|run|env|sock|use)$/ { if ($2 == "none") next; for (i = 2; i <= NF && $i !~ /^(#.*|except|until)$/; i++) n++ }
             $1 ~ /^(net|in|out)$/ { n++ } END { print n + 0 }' "$1"
}

TOTAL=0 PASSED=0 PROGRAMS=0
# stock NAME TOOL HAND COMMAND...: learns it with input 0, then runs FRESH other inputs. `input N` makes them; HAND is the policy
# that a person would write.
stock() {
        name=$1 tool=$2 hand=$3
        shift 3
        if ! command -v "$tool" >/dev/null || { [ "$tool" = convert ] && grep -q "Stands in" "$(command -v convert)"; }; then
                skip "learn $name" "$tool is not installed"
                return
        fi
        case $hand in
        *edit*) edit_holds || { skip "learn $name" "this build holds no edit door yet"; return; } ;;
        esac
        rm -rf "$D/work" && mkdir "$D/work" && cd "$D/work" || exit 1
        input 0
        chmod -R a+rX "$D/work"
        printf '%s\n' "$hand" >"$T/hand"
        if ! "$c" learn -n 2 -o "$T/$name.cordon" -- "$@" >"$T/out" 2>"$T/err" </dev/null; then
                fail "learn $name" "$(cat "$T/err")"
                return
        fi
        PROGRAMS=$((PROGRAMS + 1))
        pass "learn $name: $(tail -n 1 "$T/err" | sed 's/cordon: //')"
        has "$name: each line tells how often it was seen" "$(cat "$T/$name.cordon")" "$(grep -qE '^(read|run|use|edit) ' "$T/$name.cordon" && echo '# seen 2/2')"
        is "$name: it loads without a lint" "$("$c" check "$T/$name.cordon" 2>&1 | grep -c ': W')" 0
        got=$(doors "$T/$name.cordon") want=$(doors "$T/hand")
        if [ $((got * 10)) -le $((want * 13)) ]; then pass "$name: $got doors, $want by hand"; else fail "$name: $got doors, $want by hand" "$(cat "$T/$name.cordon")"; fi
        passed=0
        i=1
        while [ "$i" -le "$FRESH" ]; do
                rm -rf "$D/work" && mkdir "$D/work" && cd "$D/work" || exit 1
                input "$i"
                chmod -R a+rX "$D/work"
                "$c" run -q -p "$T/$name.cordon" -- "$@" >"$T/inside" 2>"$T/inside.err" </dev/null
                inside=$?
                "$@" >"$T/outside" 2>/dev/null </dev/null
                outside=$?
                [ $inside -eq 0 ] && [ $outside -eq 0 ] && cmp -s "$T/inside" "$T/outside" && passed=$((passed + 1))
                i=$((i + 1))
        done
        TOTAL=$((TOTAL + FRESH)) PASSED=$((PASSED + passed))
        if [ $((passed * 100)) -ge $((FRESH * 95)) ]; then pass "$name: $passed of $FRESH fresh runs pass and print the same"; else fail "$name: $passed of $FRESH fresh runs pass" "$(cat "$T/$name.cordon")" "$(cat "$T/inside.err")"; fi
        # the hand-made one is a fair measure: it passes, and none of its doors can be closed
        rm -rf "$D/work" && mkdir "$D/work" && cd "$D/work" || exit 1
        input 0
        is "$name: no door of the hand-made one is superfluous" "$("$c" tighten -p "$T/hand" -n 1 --json -- "$@" 2>"$T/err" </dev/null | jq -c '[.passed, .doors == .doors_before]' || cat "$T/err")" "[true,true]"
}

lines() { awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print "k" int(rand() * 9) "," int(rand() * 1000) }'; }

input() { lines $((5 + $1)) "$1" >in.csv; echo 'import csv; print(sum(int(r[1]) for r in csv.reader(open("in.csv"))))' >sum.py; }
stock python-script python3 "use base/python3
read {work}/sum.py {work}/in.csv" python3 sum.py

input() { echo "{\"n\": $1, \"list\": [1, 2, $1]}" >in.json; echo 'console.log(JSON.parse(require("fs").readFileSync("in.json")).list.length)' >main.js; }
stock node-script node "read {work}/main.js {work}/in.json" node main.js

input() { echo "{\"a\": {\"b\": $1}}" >in.json; }
stock jq jq "read {work}/in.json" jq .a.b in.json

input() { rm -f in.db; sqlite3 in.db "create table t(x); insert into t values($1), (2)"; }
stock sqlite3 sqlite3 "read {work}/in.db" sqlite3 -readonly in.db 'select sum(x) from t'

input() { mkdir tree; for k in 0 1 2 3 4; do [ $k -gt $(($1 % 5)) ] || echo $k >"tree/f$1-$k"; done; touch -d @0 tree/* tree; }
stock tar tar "read {work}/tree" tar -cf - --numeric-owner --sort=name --owner=0 --group=0 --mode=u=rwX,go=rX --mtime=@0 tree

input() { printf '#include <stdio.h>\nint f%s(void) { return printf("x"); }\n' "$1" >in.c; }
stock gcc gcc "use base/build
read {work}/in.c" gcc -c -o /tmp/cordon-learn.o in.c
rm -f /tmp/cordon-learn.o

input() { lines $((20 + $1)) "$1" >in.csv; }
stock shell-pipeline awk "run sort uniq awk
read {work}/in.csv" sh -c 'sort in.csv | uniq -c | awk "{ n += \$1 } END { print n }"'

input() { lines 30 "$1" >in.csv; echo 'use strict; use POSIX; open(my $f, "<", "in.csv") or die; my $n = 0; while (<$f>) { $n += (split /,/)[1] } print floor($n), "\n";' >sum.pl; }
stock perl perl "read {work}/sum.pl {work}/in.csv" perl sum.pl

input() { git init -q repo && (cd repo && echo "$1" >"f$1" && git add . && git -c user.name=x -c user.email=x@x.example commit -qm "commit $1"); }
stock git-log git "read {work}/repo" git -c safe.directory='*' -C repo log --format=%s

input() { mkdir wheels src && printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.%s\n' "$1" >src/M && (cd src && mkdir "demo-1.$1.dist-info" demo && echo "N = $1" >demo/__init__.py && mv M "demo-1.$1.dist-info/METADATA" && printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"demo-1.$1.dist-info/WHEEL" && printf 'demo/__init__.py,,\ndemo-1.%s.dist-info/METADATA,,\ndemo-1.%s.dist-info/WHEEL,,\ndemo-1.%s.dist-info/RECORD,,\n' "$1" "$1" "$1" >"demo-1.$1.dist-info/RECORD" && python3 -m zipfile -c "../wheels/demo-1.$1-py3-none-any.whl" demo "demo-1.$1.dist-info") && rm -rf src; }
if python3 -m pip --version >/dev/null 2>&1; then
        stock pip-install-from-a-local-index python3 "use base/python3
read {work}/wheels" python3 -m pip install -q --no-index --find-links wheels --target /tmp/cordon-learn-pip --upgrade --no-cache-dir --disable-pip-version-check demo
        rm -rf /tmp/cordon-learn-pip
else
        skip "learn pip-install-from-a-local-index" "this python3 has no pip"
fi

input() { printf 'all: out.txt\nout.txt: in.txt\n\tsort in.txt >out.txt\n\tcat out.txt\n' >Makefile; lines 20 "$1" >in.txt; }
stock make make "run /bin/sh sort cat
edit {work}" make -s

input() { printf '#include <stdio.h>\nint main(void) { return 0 * %s; }\n' "$1" >main.c; printf 'main: main.c\n\tcc -o main main.c\n' >Makefile; }
stock make-with-a-compiler make "use base/build
edit {work}" make -s

input() { printf 'P3 2 2 255 %s 0 0 0 255 0 0 0 255 9 9 9\n' $(($1 * 10)) >in.ppm; }
stock imagemagick convert "read {work}/in.ppm" convert in.ppm -resize 50% ppm:-

if net_holds; then
        skip "learn git-clone-from-a-local-server" "learning proposes no net doors yet: they are told as refused"
        skip "learn curl" "learning proposes no net doors yet: they are told as refused"
else
        skip "learn git-clone-from-a-local-server" "this build holds no net door yet"
        skip "learn curl" "this build holds no net door yet"
fi
ok "eight programs or more were learned" test "$PROGRAMS" -ge 8
ok "95 % of all fresh runs pass ($PASSED of $TOTAL)" test $((PASSED * 100)) -ge $((TOTAL * 95))
done_testing
