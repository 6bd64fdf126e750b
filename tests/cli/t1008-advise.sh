#!/bin/sh
# cordon policy new: every stock task's policy loads, holds its own tests, and really runs the task where its tool is installed
# and this build holds its doors.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-home.sh"
mkdir out
printf 'a,1\nb,2\n' >in.csv && echo '{"a": 7}' >in.json && printf 'b\na\nb\n' >in.txt && printf 'x\nerror y\n' >app.log
echo one >a.txt && echo one >b.txt && echo 'print(6 * 7)' >script.py && echo 'console.log(6 * 7)' >script.js && printf '#!/bin/sh\necho hello\n' >script.sh
printf 'int main(void) { return 0; }\n' >in.c && cp in.c main.c && printf 'main: main.c\n\tcc -o main main.c\n' >Makefile
printf 'import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n' >test_a.py
tar -cf in.tar in.csv in.json
[ ! -x /usr/bin/convert ] || /usr/bin/convert -size 4x4 xc:red in.png
! command -v ffmpeg >/dev/null || ffmpeg -loglevel error -f lavfi -i testsrc=duration=1:size=64x64:rate=5 in.mp4 </dev/null
# One page with one line; the table of where its objects lie is made by the reader.
printf '%s\n' '%PDF-1.4' '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj' '2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj' \
        '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj' \
        '4 0 obj<</Length 46>>stream' 'BT /F 18 Tf 20 40 Td (words of a page) Tj ET  ' 'endstream endobj' \
        '5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj' 'trailer<</Size 6/Root 1 0 R>>' '%%EOF' >in.pdf
! command -v sqlite3 >/dev/null || sqlite3 in.db 'create table t(x)'
git init -q . && git -c user.name=x -c user.email=x@x.example commit -q --allow-empty -m first
echo TOKEN=canary >.env
chmod -R a+rX "$D"

# what a task must print, as a part of its output
wants() {
        case $1 in
        parse-csv) echo 2 ;; query-json) echo '"a": 7' ;; query-sqlite) echo t ;; run-*-script) echo 42 ;;
        run-shell-pipeline) echo '2 b' ;; search-logs) echo 1 ;; list-archive) echo in.csv ;; checksum-files) sha256sum in.txt ;;
        git-log) echo first ;; resize-image) echo PNG ;; convert-video) echo matroska ;; read-pdf) echo 'words of a page' ;;
        run-pytest) echo '1 passed' ;; *) echo ;;
        esac
}
edit_holds() { "$c" run -q --edit "$D/work/out" -- true >/dev/null 2>&1; }
net_holds() { "$c" run -q --net example.com:443 -- true >/dev/null 2>&1; }
there() {
        case $1 in
        convert) [ -x /usr/bin/convert ] ;;
        pytest) python3 -c 'import pytest' 2>/dev/null ;;
        *) command -v "$1" >/dev/null ;;
        esac
}

"$c" policy new --list >"$T/tasks"
ok "there are 20 tasks or more" test "$(wc -l <"$T/tasks")" -ge 20
RAN=0
while read -r task; do
        "$c" policy new "$task" >"$T/$task.cordon"
        is "$task: its policy holds without a lint" "$("$c" check "$T/$task.cordon" 2>&1 | grep -v ": W133: " | sed 's/.*: ok, .*/ok/')" ok
        is "$task: it is found by its title" "$("$c" policy new "$("$c" policy new --json "$task" | jq -r .title)" | sed -n 's/^box *//p')" "$task"
        "$c" policy new --json "$task" >"$T/json"
        ok "$task: it tells what is stripped" test -n "$(jq -r .stripped "$T/json")"
        is "$task: the JSON has the same policy" "$(jq -r .policy "$T/json")" "$(cat "$T/$task.cordon")"
        ok "$task: it has a test of what is denied" grep -q '^expect deny' "$T/$task.cordon"
        hasnt "$task: it opens no home" "$(sed -n '/^\(read\|edit\|write\) /p' "$T/$task.cordon")" "{home}"
        tool=$(jq -r .tool "$T/json") command=$(jq -r .command "$T/json" | sed 's|^convert |/usr/bin/convert |')
        if ! there "$tool"; then
                skip "$task: it runs" "$tool is not installed"
                continue
        fi
        if grep -q '^edit' "$T/$task.cordon" && ! edit_holds </dev/null; then
                skip "$task: it runs" "this build holds no edit door yet"
                continue
        fi
        if grep -q '^net' "$T/$task.cordon"; then
                skip "$task: it runs" "$(net_holds </dev/null && echo "t1010-advise-net does, against a server of its own" || echo "this build holds no net door yet")"
                continue
        fi
        got=$(eval "\"\$c\" run -q -p \"\$T/\$task.cordon\" -- $command" 2>"$T/err" </dev/null | tr -d '\000')
        eval "\"\$c\" run -q -p \"\$T/\$task.cordon\" -- $command" >/dev/null 2>&1 </dev/null
        is "$task: it runs" "$?:$(tail -n 1 "$T/err" | grep -v OK)" "0:"
        has "$task: and does what it should" "$got" "$(wants "$task")"
        is "$task: the token beside it is not seen" "$("$c" run -q -p "$T/$task.cordon" -- cat "$D/work/.env" 2>/dev/null </dev/null | grep -c canary)" "$(grep -q '^edit   {work}$' "$T/$task.cordon" && echo 1 || echo 0)"
        RAN=$((RAN + 1))
done <"$T/tasks"
ok "a dozen tasks or more were run" test "$RAN" -ge 12

# --- words ---
is "the list for programs has the same names" "$("$c" policy new --list --json | jq -r '.[]')" "$("$c" policy new --list)"
for pair in "resize an image=resize-image" "shrink a photo=resize-image" "parse csv=parse-csv" "download a web page=fetch-url" "untar=unpack-archive" "run pytest=run-pytest" "npm install=npm-install" "clone a repository=git-clone" "sha256=checksum-files" "pip install=pip-install" "compile with make=make-build" "grep logs=search-logs" "Query a JSON file=query-json"; do
        # shellcheck disable=SC2086
        is "\"${pair%=*}\" is understood" "$("$c" policy new ${pair%=*} | sed -n 's/^box *//p')" "${pair#*=}"
done
is "a task nobody knows gives 125" "$("$c" policy new bake a cake >"$T/out" 2>"$T/err"; echo $?)" 125
has "and the way to find its doors" "$(cat "$T/err")" "cordon learn"
done_testing
