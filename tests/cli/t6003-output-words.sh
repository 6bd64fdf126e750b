# `cordon output`: encoders in the real languages, files checked by a schema, envelopes against the ledger.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cat >strings.py <<'END'
import sys
rows = ["plain", "it's", "'; touch pwned; '", "$(touch pwned)", "`touch pwned`", "a\nb", "\\", "\\'", "'' or 1=1 --", "x'); DROP TABLE t; --",
        "<script>document.title='pwned'</script>", "\"><img src=x onerror=\"document.title='pwned'\">", "' onmouseover='x", "</textarea><script>document.title='pwned'</script>",
        "&lt;", "=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "a,b\"c", "-5", "--help", "*", "~", "!x", "#{x}", "${IFS}", "%s%n", "{{7*7}}", "[x](javascript:alert(1))",
        "![x](https://evil.example/)", "https://evil.example/ www.evil.example a@b.example", "# head\n- list\n1. x\n> q\n    code", "\u202egpj.exe", "e\u0301 \u4e2d \U0001f44d", "\x1b]0;t\x07\x1b[2J", "\u2028</script>"]
for i, r in enumerate(rows):
    open("s%02d" % i, "wb").write(r.encode())
END
python3 strings.py
n=$(ls s[0-9][0-9] | wc -l)
ok "there are strings ($n)" test "$n" -gt 30
each() { for f in s[0-9][0-9]; do "$@" || { echo "$f"; break; }; done; }
# --- a real shell ---
in_shell() { printf 'printf %%s ' >script && "$CORDON" output quote --for sh "$f" >>script && "$sh" script >got 2>&1 && cmp -s got "$f"; }
for sh in sh bash dash; do
        command -v $sh >/dev/null || { skip "$sh reads each string back" "$sh is not installed"; continue; }
        is "$sh reads each string back" "$(each in_shell)" ""
done
ok "and nothing was executed" test ! -e pwned
# --- databases ---
in_sqlite() { { printf 'SELECT hex('; "$CORDON" output quote --for sql "$f"; printf ');'; } | sqlite3 :memory: >got 2>&1 && [ "$(cat got)" = "$(od -An -v -tx1 "$f" | tr -d ' \n' | tr a-f A-F)" ]; }
if command -v sqlite3 >/dev/null; then
        is "SQLite reads each string back" "$(each in_sqlite)" ""
else
        skip "SQLite reads each string back" "sqlite3 is not installed"
fi
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -n "$pg" ] && command -v psql >/dev/null && { [ "$(id -u)" -ne 0 ] || id alice >/dev/null 2>&1 || id postgres >/dev/null 2>&1; }; then
        who=
        [ "$(id -u)" -ne 0 ] || { id postgres >/dev/null 2>&1 && who="runuser -u postgres --" || who="runuser -u alice --"; }
        mkdir db && chmod 777 "$T" db
        $who "$pg/initdb" -D "$T/db/d" -A trust -U t >log 2>&1 && $who "$pg/pg_ctl" -D "$T/db/d" -o "-k $T/db -c listen_addresses=''" -w start >>log 2>&1
        for f in s[0-9][0-9]; do printf 'SELECT encode(convert_to('; "$CORDON" output quote --for sql "$f" | tr -d '\n' | sed 's/$/ /' >/dev/null; "$CORDON" output quote --for sql "$f"; printf ", 'UTF8'), 'hex');\n"; done >all.sql
        psql -h "$T/db" -U t -d postgres -qAt -f all.sql >got 2>err
        for f in s[0-9][0-9]; do od -An -v -tx1 "$f" | tr -d ' \n'; echo; done >want
        $who "$pg/pg_ctl" -D "$T/db/d" -m immediate stop >>log 2>&1
        is "PostgreSQL reads each string back" "$(diff got want | head -n 3; head -n 3 err)" ""
else
        skip "PostgreSQL reads each string back" "no PostgreSQL server is installed, or no account to run it"
fi
# --- pages ---
{
        echo '<!doctype html><meta charset=utf-8><title>safe</title>'
        for f in s[0-9][0-9]; do
                printf '<p id="%s">' "$f" && "$CORDON" output quote --for html "$f" | sed '$!b;s/$/<\/p>/'
                printf '<input value="' && "$CORDON" output quote --for html "$f" | tr '\n' ' ' && printf '">\n'
                printf "<script>window.x = " && "$CORDON" output quote --for json "$f" && printf ';</script>\n'
        done
} >page.html
cat >parse.py <<'END'
import html.parser, sys
tags = []
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        tags.append((tag, tuple(k for k, v in attrs)))
p = P(); p.feed(open(sys.argv[1], encoding="utf-8", errors="strict").read()); p.close()
bad = [t for t in tags if t not in {("meta", ("charset",)), ("title", ()), ("p", ("id",)), ("input", ("value",)), ("script", ())}]
print(bad if bad else "clean %d" % len([t for t in tags if t[0] == "p"]))
END
is "a parser finds no tag and no attribute that is not ours" "$(python3 parse.py page.html)" "clean $n"
if command -v chromium >/dev/null; then
        mkdir -p chrome
        timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$T/chrome" --virtual-time-budget=2000 --dump-dom "file://$T/page.html" >dom 2>/dev/null
        if [ -s dom ]; then
                has "Chromium executes nothing" "$(grep -o '<title>[^<]*</title>' dom)" "<title>safe</title>"
        else
                skip "Chromium executes nothing" "chromium does not start here"
        fi
else
        skip "Chromium executes nothing" "chromium is not installed"
fi
# --- data ---
cat >read.py <<'END'
import csv, io, json, subprocess, sys, glob, urllib.parse
out = lambda c, f: subprocess.run([sys.argv[1], "output", "quote", "--for", c, f], capture_output=True, check=True).stdout[:-1].decode()
for f in sorted(glob.glob("s[0-9][0-9]")):
    s = open(f, "rb").read().decode()
    assert json.loads(out("json", f)) == s, f
    assert urllib.parse.unquote(out("url", f)) == s, f
    cell = next(csv.reader(io.StringIO("x," + out("csv", f) + ",y\r\n", newline="")))
    assert len(cell) == 3 and cell[1] in (s, "'" + s) and not cell[1][:1] in set("=+-@"), f
    md = out("md", f)
    assert "](" not in md and "<" not in md and "://" not in md.replace("\\:\\/\\/", ""), f
    assert "\x1b" not in out("term", f) and "\u202e" not in out("term", f), f
print("good")
END
is "JSON, URLs, CSV, Markdown and terminals" "$(python3 read.py "$CORDON" 2>&1 | tail -n 1)" good
printf 'a\0b' >nul
for c in sh sql; do is "$c holds no NUL" "$("$CORDON" output quote --for $c nul 2>/dev/null; echo $?)" 125; done
is "a context that does not exist" "$("$CORDON" output quote --for perl nul 2>&1 | grep -c 'not a context')" 1
# --- schema ---
echo '{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}' >s.schema
is "a file that fits" "$(echo '{"id":1}' | "$CORDON" output check --schema s.schema; echo $?)" 0
is "one that does not" "$(echo '{"id":"1"}' | "$CORDON" output check --schema s.schema 2>/dev/null; echo $?)" 1
has "a schema with the type has its hint" "$(echo 1 | "$CORDON" output check --as 'json(s.schema)' 2>&1)" "--as json --schema s.schema"
is "its report" "$(echo '{"id":"1"}' | "$CORDON" output check --schema s.schema --json | jq -c '[.ok, .why]')" '[false,"1:7: /id does not fit `type` of the schema"]'
is "a schema that is none" "$(echo 1 | "$CORDON" output check --schema nul 2>/dev/null; echo $?)" 125
# --- envelopes ---
XDG_STATE_HOME=$T/state
export XDG_STATE_HOME
"$CORDON" run -q --stdout 'as text' -- printf 'hello world\nline two\n' >said
for mark in delimiter datamark base64; do
        "$CORDON" output wrap --mark $mark said >env.$mark
        is "$mark: an envelope is verified" "$("$CORDON" output verify env.$mark >/dev/null; echo $?)" 0
        is "$mark: it names its origin" "$(jq -c '[.v, .source, .labels[0], .door, .bytes, .mark.kind]' env.$mark)" "[1,\"box\",\"untrusted\",\"stdout\",21,\"$mark\"]"
done
is "delimiters are random" "$("$CORDON" output wrap said | jq -r .mark.with | grep -c '^[0-9a-f]\{32\}$')" 1
forge() { jq -c "$1" env.delimiter >forged; "$CORDON" output verify forged >/dev/null 2>&1; echo $?; }
is "another content" "$(forge '.content |= sub("hello"; "hallo")')" 1
is "another content with its digest" "$(forge '.content |= sub("hello"; "hallo") | .sha256 = "0000000000000000000000000000000000000000000000000000000000000000"')" 1
is "another run" "$(forge '.run = "1-2-3"')" 1
is "another record" "$(forge '.effect |= sub("[.][0-9]+$"; ".end")')" 1
for change in '.box = "x"' '.door = "stderr"' '.labels = []' '.source = "user"' '.bytes = 1' '.truncated = true' '.as = "json"' '.cut = {"escape": 1}' '.findings = [{"kind": "link", "count": 1}]' '.time = 1' '.more = 1' 'del(.labels)' \
        '.mark.with = "x" | .content = "<<x\nhello world\nline two\n\nx>>"'; do
        is "another $change" "$(forge "$change")" 1
done
is "no envelope" "$(forge '{}')" 1
is "an output that no run printed has none" "$(echo other | "$CORDON" output wrap 2>/dev/null; echo $?)" 125
"$CORDON" run -q -- printf 'a\033[2Jb' >live
is "one that is not inert has none but base64" "$("$CORDON" output wrap live >/dev/null 2>&1; echo $?) $("$CORDON" output wrap --mark base64 live | "$CORDON" output verify >/dev/null; echo $?)" "125 0"
"$CORDON" run -q --stdout 'as text' -- printf 'a\033[2Jb \342\200\256 http://x.example/\n' >cuts
"$CORDON" output wrap cuts >env.cuts
is "it says what was cut, and what was found" "$(jq -c '[.as, .cut, .findings]' env.cuts) $("$CORDON" output verify env.cuts >/dev/null; echo $?)" '["text",{"escape":1,"bidi":1},[{"kind":"link","count":1}]] 0'
# --- of handles ---
"$CORDON" run -q --out 'o max 1M as json' --handle o=o.json -- sh -c 'printf "{\"a\": \"x\\\\u202ey http://x.example/\"}" >"$CORDON_OUT_O"'
is "a handle leaves inert" "$(cat o.json)" '{"a": "x<U+202E>y http://x.example/"}'
"$CORDON" output wrap o.json >env.o
is "what passed has an envelope" "$(jq -c '[.door, .as, .cut, .findings, .bytes]' env.o) $("$CORDON" output verify env.o >/dev/null; echo $?)" '["out o","json",{"bidi":1},[{"kind":"link","count":1}],37] 0'
jq -c '.door = "out p"' env.o >forged
is "of that handle" "$("$CORDON" output verify forged >/dev/null 2>&1; echo $?)" 1
"$CORDON" run -q --in 'i max 1M' --handle i=said -- true
is "what only went in has none" "$(cp said in2 && echo more >>in2 && "$CORDON" run -q --in 'i max 1M' --handle i=in2 -- true; "$CORDON" output wrap in2 >/dev/null 2>&1; echo $?)" 125
done_testing
