#!/bin/sh
# cordon learn with real programs: the policy that is learned passes fresh runs with other inputs, prints what the
# program prints outside, and has at most 1.3 times the doors of one made by hand. curl and git clone: t1009.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
watched
elsewhere cordon-learn
trap 'code=$?; remove "$T" "$D" "${OUT:-/nonexistent}"*; exit $code' EXIT
. "$(dirname "$0")/lib-learn.sh"

# pip is slow: beside the others, learned from one run.
pip_install() {
        RUNS=1
        input() {
                rm -rf "$OUT-pip" && mkdir wheels src && printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.%s\n' "$1" >src/M && (
                        cd src && mkdir "demo-1.$1.dist-info" demo && echo "N = $1" >demo/__init__.py && mv M "demo-1.$1.dist-info/METADATA" &&
                                printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"demo-1.$1.dist-info/WHEEL" &&
                                printf 'demo/__init__.py,,\ndemo-1.%s.dist-info/METADATA,,\ndemo-1.%s.dist-info/WHEEL,,\ndemo-1.%s.dist-info/RECORD,,\n' "$1" "$1" "$1" >"demo-1.$1.dist-info/RECORD" &&
                                python3 -m zipfile -c "../wheels/demo-1.$1-py3-none-any.whl" demo "demo-1.$1.dist-info"
                ) && rm -rf src
        }
        stock pip-install-from-a-local-index python3 "use base/python3
read {work}/wheels" sh -c "python3 -m pip install -q --no-index --find-links wheels --target $OUT-pip --no-deps --no-compile --no-cache-dir --disable-pip-version-check demo &&
                echo $OUT-pip/*/* && read -r line <$OUT-pip/demo/__init__.py && echo \"\$line\""
}
if python3 -m pip --version >/dev/null 2>&1; then
        beside pip pip_install
else
        PID_pip='' SKIPPED=1 && echo "ok 1 - learn pip-install-from-a-local-index # SKIP this python3 has no pip" >"$T/pip.tap"
fi

input() { lines $((5 + $1)) "$1" >in.csv; echo 'import csv; print(sum(int(r[1]) for r in csv.reader(open("in.csv"))))' >sum.py; }
stock python-script python3 "use base/python3
read {work}/sum.py {work}/in.csv" python3 sum.py

input() { echo "{\"n\": $1, \"list\": [1, 2, $1]}" >in.json; echo 'console.log(JSON.parse(require("fs").readFileSync("in.json")).list.length)' >main.js; }
# Debian's own node reads parts of itself from /usr/share/nodejs when it starts, others have them built in.
echo 'read /usr/share/zoneinfo?' >"$T/loader-only"
if ! command -v node >/dev/null || "$c" run -q -p "$T/loader-only" -- node -e 0 2>/dev/null; then parts=; else parts="use base/node
"; fi
stock node-script node "${parts}read {work}/main.js {work}/in.json" node main.js

input() { echo "{\"a\": {\"b\": $1}}" >in.json; }
stock jq jq "read {work}/in.json" jq .a.b in.json

input() { rm -f in.db; sqlite3 in.db "create table t(x); insert into t values($1), (2)"; }
stock sqlite3 sqlite3 "read {work}/in.db" sqlite3 -readonly in.db 'select sum(x) from t'

input() { mkdir tree; for k in 0 1 2 3 4; do [ $k -gt $(($1 % 5)) ] || echo $k >"tree/f$1-$k"; done; touch -d @0 tree/* tree; }
stock tar tar "read {work}/tree" tar -cf - --numeric-owner --sort=name --owner=0 --group=0 --mode=u=rwX,go=rX --mtime=@0 tree

input() { printf '#include <stdio.h>\nint f%s(void) { return printf("x"); }\n' "$1" >in.c; }
stock gcc-build gcc "use base/build
read {work}/in.c" sh -c "gcc -O1 -c -o $OUT-in.o in.c && gcc -shared -o $OUT-in.so $OUT-in.o && cksum <$OUT-in.so"

input() { lines $((20 + $1)) "$1" >in.csv; }
stock shell-pipeline awk "run sort uniq awk
read {work}/in.csv" sh -c 'sort in.csv | uniq -c | awk "{ n += \$1 } END { print n }"'

input() { lines 30 "$1" >in.csv; echo 'use strict; use POSIX; open(my $f, "<", "in.csv") or die; my $n = 0; while (<$f>) { $n += (split /,/)[1] } print floor($n), "\n";' >sum.pl; }
stock perl perl "read {work}/sum.pl {work}/in.csv" perl sum.pl

input() { git init -q repo && (cd repo && echo "$1" >"f$1" && git add . && git -c user.name=x -c user.email=x@x.example commit -qm "commit $1"); }
stock git-log git "read {work}/repo" git -c safe.directory='*' -C repo log --format=%s

input() { printf 'all: out.txt\nout.txt: in.txt\n\tsort in.txt >out.txt\n\tcat out.txt\n' >Makefile; lines 20 "$1" >in.txt; }
stock make make "run /bin/sh sort cat
edit {work}" make -s

input() { printf '#include <stdio.h>\nint main(void) { return 0 * %s; }\n' "$1" >main.c; printf 'main: main.c\n\tcc -o main main.c\n\tcksum main\n' >Makefile; }
stock make-with-a-compiler make "use base/build
edit {work}" make -s

input() { printf 'P3 2 2 255 %s 0 0 0 255 0 0 0 255 9 9 9\n' $(($1 * 10)) >in.ppm; }
stock imagemagick /usr/bin/convert "read {work}/in.ppm" /usr/bin/convert in.ppm -resize 50% ppm:-

# Below /tmp, where the way to a door can be listed: what was listed is opened as what it is, not as the one file of today.
mkdir -p "$T/project/tree" && echo one >"$T/project/tree/one" && chmod -R a+rX "$T/project"
is "below /tmp too a directory that is listed is proposed as one" "$(cd "$T/project" && "$c" learn -n 1 -- tar -cf - --mode=a=r --mtime=@0 tree 2>"$T/err" </dev/null | sed -n 's/ *#.*//; /^read /p')" "read {work}/tree"

# A script whose interpreter is one's own, behind links, as a virtual environment has it: the kernel looks for that, and nobody watches yet.
mkdir -p "$D/venv/bin" "$D/lib/3.11/bin" && ln -s 3.11 "$D/lib/3" && cp "$(readlink -f /usr/bin/python3)" "$D/lib/3.11/bin/python3.11" && ln -s python3.11 "$D/lib/3.11/bin/python3"
ln -s python3 "$D/venv/bin/python" && ln -s "$D/lib/3/bin/python3" "$D/venv/bin/python3"
printf '#!%s\nprint("ran")\n' "$D/venv/bin/python" >"$D/venv/bin/tool" && chmod -R a+rX "$D/venv" "$D/lib" && chmod 755 "$D/venv/bin/tool"
learned() { (cd "$D" && "$c" learn -n 1 "$@" 2>"$T/err" </dev/null | sed -n 's/ *#.*//; /^\(use\|run\|read\) /p' | sort | tr '\n' ' '); }
is "a script's own interpreter is learned" "$(learned -- venv/bin/tool)" "run {work}/venv/bin/python use base/python3 "
is "also behind a shell" "$(learned -- sh -c "$D/venv/bin/tool")" "run {work}/venv/bin/python run {work}/venv/bin/tool use base/python3 "
if head -c 2 /usr/bin/ldd 2>/dev/null | grep -q '#!'; then
        has "and of one that is looked for" "$(learned -- ldd --version)" "run $(sed -n '1s/^#! *\([^ ]*\).*/\1/p' /usr/bin/ldd) "
else
        skip "and of one that is looked for" "ldd is no script here"
fi

merge pip
is "all thirteen programs were learned, or it is told what is not installed ($SKIPPED)" $((PROGRAMS + SKIPPED)) 13
ok "95 % of all fresh runs pass ($PASSED of $TOTAL)" test $((PASSED * 100)) -ge $((TOTAL * 95))
done_testing
