#!/bin/sh
# `cordon policy import`: settings of other tools become door lines that load, and say what they leave out.
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$T/w" "$T/h" && cd "$T/w" || exit 1
cp "$repo"/tests/fuzz/corpus/from/* .
HOME=$T/h && export HOME

# from FILE: the lines, which must load
from() {
        "$CORDON" policy import "$1" >"$T/policy" 2>"$T/err"
        is "$1 is converted" "$? $(cat "$T/err")" "0 "
        ok "$1: the lines load" "$CORDON" check "$T/policy"
        grep -v '^#' "$T/policy" >"$T/lines"
}
says() { ok "$1: $2" grep -qx -e "$2" "$T/lines"; }
notes() { ok "$1 notes: $2" grep -q "^# .*$2" "$T/policy"; }

from srt.json
says srt.json 'edit   {work} except .env config/prod'
says srt.json 'net    github.com:443'
says srt.json 'net    \*.npmjs.org:443'
says srt.json 'sock   /run/user/1000/bus'
notes srt.json 'wider than it looks: reading'
ok "a pattern stays one" "$CORDON" why -p "$T/policy" net registry.npmjs.org:443

from settings.json
says settings.json 'edit   {work} except .env'
says settings.json 'read   {home}/docs?'
says settings.json 'edit   {work}/src?'
says settings.json 'net    docs.python.org:443'
notes settings.json 'docker: ran outside the sandbox'
notes settings.json 'Bash(npm run'

from config.toml
says config.toml 'edit   "/a b/c"?'
says config.toml 'edit   {home}/x?'
notes config.toml 'network_access: every host'

from viewer.profile
says viewer.profile 'edit   {home}/Pictures? except private'
says viewer.profile 'run    eog'
says viewer.profile 'limit  memory 512M'
says viewer.profile 'limit  time 600s'
notes viewer.profile 'network: was open'

mkdir "$HOME/my dir"
from run.sh
says run.sh 'edit   "{home}/my dir"'
says run.sh 'env    "A=b c"'
notes run.sh '/home/x: the box sees the directory under its own name'
notes run.sh 'network: was open'

mkdir "$HOME/.aws"
from devcontainer.json
says devcontainer.json 'read   {home}/.aws'
says devcontainer.json 'listen 3000'
notes devcontainer.json 'docker.sock: access to the container engine'

# No value becomes a line of its own, and nothing opens the whole disk.
printf '{"filesystem":{"allowWrite":["a\\nread /","/","/**"]},"network":{"allowedDomains":["*","x.com y","a\\nnet b:1"]}}' >evil.json
from evil.json
is "no line holds another" "$(grep -c -e '^read   /' -e '^net' "$T/lines")" 0
notes evil.json 'the whole disk'
printf 'whitelist /\nenv A=b\\nread /\n' >evil.profile
from evil.profile
is "not in a profile either" "$(grep -c '^read' "$T/lines")" 0

echo "bwrap --no-such x" >bad.sh
is "a file of no known kind is refused" "$(status "$CORDON" policy import "$T/policy")" 125
has "with the kinds that are known" "$(cat "$T/err")" "known are"
is "so is an unknown option of bwrap" "$(status "$CORDON" policy import bad.sh)" 125
has "by its name" "$(cat "$T/err")" "--no-such"
is "and a missing file" "$(status "$CORDON" policy import nothing)" 125
done_testing
