#!/bin/sh
# The packages for Python and Node, as programs of somebody else use them.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
root() { "$@"; }
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
cp -r "$repo/bindings" "$(dirname "$0")/helpers/bindings.py" "$(dirname "$0")/helpers/bindings.js" "$repo/docs/frameworks.md" "$T/"
chmod -R a+rX "$T/bindings" "$T/bindings.py" "$T/bindings.js" "$T/frameworks.md"
python=$(PATH=/usr/bin:/bin command -v python3) # one that every account can start
mkdir "$T/work-root" "$T/work-as_user" && chmod 777 "$T/work-as_user"

# lines WHO LANGUAGE: counts what the program said
lines() {
        while read -r line; do
                case $line in
                "ok "*) pass "$1: $2: ${line#ok }" ;;
                "not ok "*) fail "$1: $2: ${line#not ok }" ;;
                *) fail "$1: $2: said: $line" ;;
                esac
        done <"$T/said"
}
for who in root as_user; do
        if [ -z "$python" ]; then
                skip "$who: the Python package" "no python3"
        elif ldd "$T/libcordon.so.1" | grep -q san; then
                skip "$who: the Python package" "a sanitized library needs its runtime loaded first"
        else
                $who env CORDON_LIBRARY="$T/libcordon.so.1" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$T/bindings/python/src" \
                        timeout -k 5 240 "$python" "$T/bindings.py" "$T/work-$who" "$T/frameworks.md" >"$T/said" 2>&1 </dev/null
                is "$who: the Python program ends well" "$?" 0
                lines "$who" python
        fi
        if [ -z "$(command -v node)" ]; then
                skip "$who: the Node package" "no node"
        else
                $who env CORDON="$CORDON" timeout -k 5 240 "$(command -v node)" "$T/bindings.js" "$T/bindings/node/cordon.js" "$T/work-$who" "$T/frameworks.md" >"$T/said" 2>&1 </dev/null
                is "$who: the Node program ends well" "$?" 0
                lines "$who" node
        fi
done
done_testing
