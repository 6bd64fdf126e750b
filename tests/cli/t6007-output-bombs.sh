# Bombs for the process that checks output: depth, keys, numbers, regular expressions, schemas that multiply, archives and
# pictures that say more than they hold. Each is refused, and nothing else is harmed. A check that hangs denies the output.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cat >bombs.py <<'END'
import gzip, json, struct, zipfile, zlib
w = lambda name, data: open(name, "wb").write(data)
w("deep.json", b"[" * 1000000)
w("deep2.json", b'{"a":' * 200000 + b"1" + b"}" * 200000)
w("keys.json", b"{" + b",".join(b'"k%d":1' % i for i in range(300000)) + b"}")
w("number.json", b"1" * 2000000)
w("exponent.json", b"1e999999999999")
w("same.json", b"[" + b'"a",' * 300000 + b'"a"]')
w("text.txt", b"\x1b[" * 500000 + b"\xf3\xa0\x81\xa1" * 100000)
w("line.txt", b"x" * 5000000)
levels = {"d%d" % i: {"allOf": [{"$ref": "#/$defs/d%d" % (i + 1)}] * 2} for i in range(40)}
levels["d40"] = {"type": "integer"}
w("multiply.schema", json.dumps({"$ref": "#/$defs/d0", "$defs": levels}).encode())
w("unique.schema", b'{"uniqueItems": true}')
w("regex.schema", b'{"type":"string","pattern":"^(a+)+$"}')
w("regex.json", b'"' + b"a" * 500000 + b'b"')
w("loop.schema", b'{"$ref":"#"}')
w("one.json", b"1")
png = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
w("huge.png", b"\x89PNG\r\n\x1a\n" + png(b"IHDR", struct.pack(">IIBBBBB", 200000, 200000, 8, 2, 0, 0, 0)) + png(b"IDAT", zlib.compress(bytes(1000))) + png(b"IEND", b""))
z = zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED)
for i in range(4):
    z.writestr("f%d" % i, bytes(25 << 20))
z.close()
c = zlib.compressobj(9, zlib.DEFLATED, 31)
w("bomb.gz", b"".join([c.compress(bytes(1 << 20)) for _ in range(120)]) + c.flush())
END
python3 bombs.py
check() { # NAME STATUS ARGS...: the status, and no longer than the process may compute
        name=$1 want=$2
        shift 2
        timeout 120 "$CORDON" output check --json "$@" >report 2>err
        code=$?
        is "$name" "$code" "$want"
}
check "a million brackets" 1 --as json deep.json
check "objects in objects" 1 --as json deep2.json
check "three hundred thousand keys" 1 --as json keys.json
check "a number of two million digits" 0 --as json number.json
check "an exponent that no number has" 0 --as json exponent.json
check "a schema that multiplies runs out of steps" 1 --schema multiply.schema one.json
check "one that refers to itself does" 1 --schema loop.schema one.json
check "equal items are found in bounded time" 1 --schema unique.schema same.json
check "a nested repetition takes linear time" 1 --schema regex.schema regex.json
check "a picture of forty gigapixels" 1 --as png huge.png
check "an archive that says that it grows a thousandfold" 1 --as zip bomb.zip
check "a compressed file that does" 1 --as gzip bomb.gz
check "half a million beginnings of sequences" 0 --as text text.txt
check "a line of five megabytes" 0 --as text line.txt
for f in deep.json huge.png bomb.zip; do
        "$CORDON" run -q --in 'o max 64M as json' --handle "o=$f" -- echo entered >out 2>err </dev/null
        is "$f does not enter a box as JSON" "$? $(cat out)" "125 "
done
"$CORDON" run -q --read "$T" --stdout 'as json' -- cat "$T/deep.json" >out 2>err </dev/null
is "nor leave one" "$? $(cat out)" "123 "
"$CORDON" run -q -- echo fine >out 2>err </dev/null
is "and the next run is fine" "$? $(cat out)" "0 fine"
# A check that hangs: what it has not passed does not leave, and the limit of the run ends both.
"$CORDON" run -q --time 4s --stdout 'as json' -- sh -c 'echo "{}"; sleep 60' >out 2>err </dev/null &
job=$!
found() { pgrep -P "$job" -x cordon-output >pid 2>/dev/null; }
if soon found; then
        kill -STOP "$(head -n 1 pid)"
        wait $job
        is "a check that hangs denies the output" "$? $(cat out)" "124 "
        ok "and is gone with the run" test ! -e "/proc/$(head -n 1 pid)"
else
        wait $job
        skip "a check that hangs denies the output" "the process was not found"
fi
done_testing
