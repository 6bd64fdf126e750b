# Attacks on what checks output, each once live: secrets with hidden characters between their letters, in single-byte writes beside
# another stream's; JSON that is not what was judged; a terminal that would go on to type after the box is gone.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
secret=Zq7pX2kLm9vRt4Ws
cat >enc.py <<'END'
import base64, codecs, os, sys
s = sys.argv[1].encode()
each = lambda form: b"".join(form % c for c in s)
rows = {"plain": s, "case": s.swapcase(), "hex": s.hex().encode(), "base64": base64.b64encode(b"x" + s), "base64url": base64.urlsafe_b64encode(b"xx" + s),
        "base64-lines": b"\n".join(base64.b64encode(s)[i:i + 4] for i in range(0, 24, 4)), "base32": base64.b32encode(b"x" + s), "percent": each(b"%%%02X"),
        "u": each(b"\\u%04x"), "x": each(b"\\x%02x"), "entities": each(b"&#%d;"), "reversed": s[::-1], "rot13": codecs.encode(sys.argv[1], "rot13").encode(),
        "quoted": each(b"=%02X"), "utf-16le": s.decode().encode("utf-16-le"), "utf-16be": s.decode().encode("utf-16-be"), "utf-32": s.decode().encode("utf-32-le"),
        "nul": s[:5] + b"\0" + s[5:], "colour": s[:5] + b"\x1b[31m" + s[5:], "zero-width": "\u200b".join(s.decode()).encode(), "bytes": s[:5] + b"\xff\xc0\xaf\xed\xa0\x80" + s[5:],
        "string": s[:7] + b"\x1b]52;c;x\x07" + s[7:], "mixed": b"\0\x1b[0m\xff".join([s[:3], s[3:9], s[9:]])}
for name, data in rows.items():
    for b in name.encode() + b":" + data + b"\n":
        os.write(1, bytes([b]))
        os.write(2, b"Zq7\x1b")
END
chmod 644 enc.py
mkdir -m 700 config
XDG_CONFIG_HOME=$T/config
export XDG_CONFIG_HOME
if [ -x "$CORDON_LIBEXEC/cordon-vault" ] && printf %s "$secret" | "$CORDON" vault add gh --env GITHUB_TOKEN >out 2>&1; then
        "$CORDON" run -q --net "http://web.test/** GET with gh" --read "$T/enc.py" --stdout 'as text' --stderr 'as text' -- python3 "$T/enc.py" "$secret" >out 2>err </dev/null
        is "each spelling of a secret is found, one byte a write" "$? $(grep -c . out) $(grep -av '<secret:gh>' out)" "0 23 "
else
        skip "each spelling of a secret is found, one byte a write" "cordon-vault is not built here: it needs OpenSSL"
fi
# --- what is judged is what leaves ---
printf '%s\n' '{"a":"\u"}}}"}' >bad.jsonl
printf '%s\n' '{"a":"\ud800\u0041"}' >lone.jsonl
printf '%s\n' '"\u202e"' >mark.json
printf '%s\n' '{"const":"<U+202E>"}' >mark.schema
"$CORDON" output check --as jsonl bad.jsonl >out 2>err
is "an escape without digits is no JSON line" "$?" 1
"$CORDON" output check --as jsonl lone.jsonl >out 2>err
is "nor is half a character" "$?" 1
"$CORDON" output check --schema mark.schema mark.json >out 2>err
is "a schema judges what is read, not its marks" "$?" 1
for f in bad.jsonl lone.jsonl; do
        "$CORDON" run -q --in 'o max 1M as jsonl' --handle "o=$f" -- echo entered >out 2>err </dev/null
        is "$f does not enter a box" "$? $(cat out)" "125 "
done
# --- a terminal that answers: nothing is typed after the box's end, whatever it asked or switched on ---
cat >ask.py <<'END'
import os, pty, re, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("sh", ["sh", "-c", '"$0" run -q -t -- printf "$1"; stty -echo -icanon min 0 time 5; x=$(cat); printf "LEFT<%s>" "$(printf %s "$x" | tr -dc A-Za-z0-9)"', sys.argv[1], sys.argv[2]])
answers = {b"\033[6n": b"\033[12;34R", b"\033[5n": b"\033[0n", b"\033[?4m": b"\033[>4;0m"}
seen, asked = b"", 0
while not re.search(b"LEFT<[^>]*>", seen) and select.select([fd], [], [], 60)[0]:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
    for q in re.finditer(rb"\033\[(6n|5n|\?4m)", seen[asked:]):
        os.write(fd, answers[q.group()])
    asked = max([asked] + [asked + q.end() for q in re.finditer(rb"\033\[(6n|5n|\?4m)", seen[asked:])])
count = [seen.count(q) for q in (b"\033[5n", b"\033[?4m")]
on = ["on" if seen.rfind(b"\033[" + m + b"h") > seen.rfind(b"\033[" + m + b"l") else "off" for m in (b"?1003", b"2")]
print("LEFT<" + seen.split(b"LEFT<")[-1].decode(errors="replace"), *count, *on)
END
is "the answer that ends the draining cannot be forged" "$(timeout 100 python3 ask.py "$CORDON" '\033[5n\033[5n\033[6n')" "LEFT<> 1 0 off off"
is "the state of keys cannot be asked for" "$(timeout 100 python3 ask.py "$CORDON" '\033[?4m')" "LEFT<> 0 0 off off"
is "a mouse is not left on, nor a keyboard locked" "$(timeout 100 python3 ask.py "$CORDON" '\033[?1003h\033[2h')" "LEFT<> 0 0 off off"
done_testing
