#!/bin/sh
# The stock tasks that need a network, run with the policies that cordon advises: the stage test leads their hosts to a
# server of the test's own. The policies are not edited.
. "$(dirname "$0")/lib-net.sh"
elsewhere cordon-advise-net
LAB_ALSO=$D
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=$D/home
export PATH HOME
mkdir -p "$D/home" "$D/work/clone" "$D/work/node_modules" "$D/work/vendor" "$T/lab/git/npm/tar" "$T/lab/git/pypi/simple" "$T/lab/git/files" && cd "$D/work" || exit 1
c=$CORDON
cat >"$T/places" <<'END'
place example live https://example.com/
place example test http://web.test/
place github live https://github.com/
place github test http://web.test/smart/
place npm live https://registry.npmjs.org/
place npm test http://web.test/git/npm/
place pypi live https://pypi.org/
place pypi test http://web.test/git/pypi/
place files live https://files.pythonhosted.org/
place files test http://web.test/git/files/
END
# what the servers have
mkdir -p "$T/src" "$T/lab/git/OWNER" && git init -q "$T/src" && (cd "$T/src" && echo cloned >file && git add . && git -c user.name=x -c user.email=x@x.example commit -qm one) &&
        git clone -q --bare "$T/src" "$T/lab/git/OWNER/NAME"
mkdir -p "$T/npm/package" && echo '{"name": "demo", "version": "1.0.0"}' >"$T/npm/package/package.json" && echo 'module.exports = 7' >"$T/npm/package/index.js" &&
        tar -C "$T/npm" -czf "$T/lab/git/npm/tar/demo-1.0.0.tgz" package
sum=$(openssl dgst -sha512 -binary "$T/lab/git/npm/tar/demo-1.0.0.tgz" | base64 -w0)
echo "{\"name\":\"demo\",\"dist-tags\":{\"latest\":\"1.0.0\"},\"versions\":{\"1.0.0\":{\"name\":\"demo\",\"version\":\"1.0.0\",\"dist\":{\"tarball\":\"https://registry.npmjs.org/tar/demo-1.0.0.tgz\",\"integrity\":\"sha512-$sum\"}}}}" >"$T/lab/git/npm/demo"
echo '{"name": "app", "version": "1.0.0", "dependencies": {"demo": "1.0.0"}}' >package.json
mkdir -p "$T/wheel/demo" "$T/wheel/demo-1.0.dist-info" && echo 'N = 7' >"$T/wheel/demo/__init__.py" &&
        printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n' >"$T/wheel/demo-1.0.dist-info/METADATA" &&
        printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$T/wheel/demo-1.0.dist-info/WHEEL" &&
        printf 'demo/__init__.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n' >"$T/wheel/demo-1.0.dist-info/RECORD" &&
        (cd "$T/wheel" && python3 -m zipfile -c "$T/lab/git/files/demo-1.0-py3-none-any.whl" demo demo-1.0.dist-info)
echo '<!DOCTYPE html><a href="https://files.pythonhosted.org/demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>' >"$T/lab/git/pypi/simple/demo"
echo demo >requirements.txt
chmod -R a+rX "$D" "$T/lab/git"

# task NAME TOOL FILE: runs it; FILE is what must be there then, in the layer or in the output
task() {
        if ! command -v "$2" >/dev/null; then
                skip "$1: it runs" "$2 is not installed"
                return
        fi
        "$c" policy new "$1" >"$T/$1.cordon"
        is "$1: its policy holds" "$("$c" check "$T/$1.cordon" 2>&1 | sed 's/.*: ok, .*/ok/')" ok
        command=$("$c" policy new --json "$1" | jq -r .command)
        eval "timeout 100 \"\$c\" run --stage test --places \"\$T/places\" -p \"\$T/$1.cordon\" --status-fd 5 -- $command" >"$T/out" 2>"$T/err" </dev/null 5>"$T/status" 9>&-
        is "$1: it runs" "$?:$(jq -r .end "$T/status")" 0:exited
        [ "$(jq -r .exit "$T/status")" = 0 ] || tail -n 6 "$T/err" | sed "s/^/# /"
        layer=$(jq -r '.work.layer // ""' "$T/status")
        has "$1: and does what it should" "$(cat "$T/out"; [ -z "$layer" ] || "$c" diff --name-only "$layer" 2>&1)" "$3"
        [ -z "$layer" ] || "$c" discard "$layer" >/dev/null 2>&1
}
task fetch-url curl "GET / 0"
task git-clone git "NAME/file"
task npm-install npm "demo/index.js"
task pip-install pip3 "demo/__init__.py"
done_testing
