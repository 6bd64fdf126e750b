#!/bin/sh
# What programs compile for themselves: libraries that are made and loaded in a box end with it, and Python's caches in a read door are one
# line of a report.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
elsewhere compiled
root() { "$@"; }
mkdir -p "$D/pkg/inner" && chmod -R a+rX "$D"
for i in 1 2 3 4 5 6 7 8; do echo "x = $i" >"$D/pkg/m$i.py" && echo "x = $i" >"$D/pkg/inner/n$i.py"; done
: >"$D/pkg/__init__.py"
: >"$D/pkg/inner/__init__.py"
cat >"$D/use.py" <<'END'
import importlib, sys
sys.dont_write_bytecode = False
sys.path.insert(0, sys.argv[1])
print(sum(importlib.import_module("pkg." + m).x for m in ["m%d" % i for i in range(1, 9)] + ["inner.n%d" % i for i in range(1, 9)]))
sys.exit(1)
END
chmod -R a+rX "$D"
if [ ! -x /usr/bin/python3 ] || [ ! -x /usr/bin/gcc ]; then
        skip "caches of compilers" "no /usr/bin/python3 or gcc"
        remove "$D"
        done_testing
fi
cat >"$D/load.py" <<'END'
import ctypes, os, subprocess, sys
for place in ("/tmp/torchinductor_box", os.path.expanduser("~/.cache/triton"), os.path.expanduser("~/.triton/cache")):
    made = os.path.join(place, "k.so")
    if sys.argv[1] == "make":
        os.makedirs(place)
        open(place + "/k.c", "w").write("int answer(void) { return 42; }")
        subprocess.check_call(["gcc", "-shared", "-fPIC", "-o", made, place + "/k.c"])
    print(ctypes.CDLL(made).answer() if os.path.exists(made) else "none")
END
chmod a+r "$D/load.py"
for who in root as_user; do
        box() { $who timeout 120 "$CORDON" run "$@" 2>"$T/err" </dev/null; }
        is "$who: a library that is compiled in a box is loaded there" "$(box --read "$D" -- /usr/bin/python3 "$D/load.py" make | xargs)" "42 42 42"
        is "$who: the next box has none of it" "$(box --read "$D" -- /usr/bin/python3 "$D/load.py" look | xargs)" "none none none"
        hasnt "$who: a box that lists its programs loads none that it made" "$(box -p base/strict --run python3 --run gcc --run /usr/lib/gcc/ --run as --run ld --read "$D" -- /usr/bin/python3 "$D/load.py" make | xargs)" 42
        has "$who: ldconfig lists the libraries" "$(box -- /sbin/ldconfig -p | head -n 3)" "libs found in cache"

        box --read "$D" -- env -u PYTHONDONTWRITEBYTECODE /usr/bin/python3 "$D/use.py" "$D" >"$T/out"
        is "$who: modules of a read door are imported" "$(cat "$T/out")" 72
        hasnt "$who: none is kept compiled" "$(find "$D" -name '*.pyc')" pyc
        if ! $who test -w /dev/fuse; then
                skip "$who: which is told in one row, that matters little" "hidden paths are not told without /dev/fuse"
                continue
        fi
        box --json --read "$D" -- env -u PYTHONDONTWRITEBYTECODE /usr/bin/python3 "$D/use.py" "$D" >"$T/out"
        is "$who: which is told in one row, that matters little" "$(tail -n 1 "$T/err" | jq -r '[.denials[] | select(.path | contains("__pycache__"))] | "\(length) \(.[0].minor)"')" "1 true"
done
remove "$D"
done_testing
