#!/bin/sh
# The packages for Python and Node against a `cordon serve --http` by URL: the classes of local boxes.
# shellcheck disable=SC2034,SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
: "${BUILD:=$here/../../build}"
command -v curl >/dev/null || { skip "clients of a server" "curl is missing"; done_testing; }
. "$here/helpers/serve.sh"
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
cp -r "$here/../../bindings" "$here/helpers/remote.py" "$here/helpers/remote.js" "$T/"
chmod -R a+rX "$T/bindings" "$T/remote.py" "$T/remote.js"
configure
tenant a
a=$(token a run,read,apply)
printf 'use base/system\nedit {work}\nlimit time 1m\n' | $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/a/policies/ed.cordon"
printf 'use base/system\nread {work}\nlimit time 1m\n' | $who sh -c 'cat >"$1"' sh "$C/cordon/serve/tenants/a/ceiling.cordon"
serve
said() { while read -r line; do case $line in "ok "*) pass "$1: ${line#ok }" ;; "not ok "*) fail "$1: ${line#not ok }" ;; *) fail "$1: said: $line" ;; esac; done <"$T/lines"; }
python=$(PATH=/usr/bin:/bin command -v python3)
mkdir "$T/w" && chmod 777 "$T/w"
if [ -z "$python" ] || ldd "$T/libcordon.so.1" | grep -q san; then skip "Python" "no python3, or a library that cannot be loaded"; else
        (cd "$T/w" && $who env CORDON_LIBRARY="$T/libcordon.so.1" CORDON_STATE="$C/local" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$T/bindings/python/src" timeout -k 5 200 "$python" "$T/remote.py" "unix:$S" "$a") >"$T/lines" 2>&1 </dev/null
        is "the Python program ends well" "$?" 0
        said python
fi
if [ -z "$(command -v node)" ]; then skip "Node" "no node"; else
        $who env CORDON="$CORDON" CORDON_STATE="$C/local" timeout -k 5 200 "$(command -v node)" "$T/remote.js" "$T/bindings/node/cordon.js" "unix:$S" "$a" >"$T/lines" 2>&1 </dev/null
        is "the Node program ends well" "$?" 0
        said node
fi
is "runs of both have their labels" "$(http GET '/v1/runs?label=from&limit=1000' "$a" | grep -o '"from":"[a-z]*"' | sort -u | xargs)" "from:js from:py"
kill "$serve" && soon gone "$serve"
done_testing
