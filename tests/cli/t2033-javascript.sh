#!/bin/sh
# JavaScript behind the wasm wall: what scripts print, their doors, modules, ends, and the functions of a program.
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
case $BUILD in /*) ;; *) BUILD=$repo/$BUILD ;; esac
cd "$T" || exit 1
engine=$CORDON_LIBEXEC/quickjs.wasm
if [ ! -f "$engine" ]; then
        echo 'console.log(1)' >x.js
        has "a script without an engine is refused with the fix" "$("$CORDON" run -q --wall wasm -- x.js 2>&1)" "tools/deps quickjs"
        skip "JavaScript" "quickjs.wasm is not there: tools/deps fetches it with npm"
        done_testing
fi
js() { printf '%s\n' "$1" >x.js && shift && chmod 644 x.js && "$CORDON" run -q --wall wasm "$@" </dev/null 2>&1; }
run() { js "$1" -- x.js; }

# --- what node prints, too ---
command -v node >/dev/null || skip "scripts as node runs them" "there is no node"
while IFS= read -r line; do
        ! command -v node >/dev/null || is "$line" "$(run "$line")" "$(node x.js 2>&1)"
done <<'EOF'
console.log("a", 1, true, null, undefined, 1.5, -0, 10n, NaN)
console.log({ a: 1, b: [1, 2, "x"], c: { d: { e: {} } } }, [], {})
console.log(new Map([[1, "a"]]), new Set([1, 2]), [1, [2, [3, [4, [5]]]]])
console.log("%s is %d%% of %j", "x", 5, { a: 1 }, "more")
console.log([1, 2, 3].map((x) => x ** 2), "äöü€😀".length, [..."a😀"])
console.log(JSON.stringify({ x: new Date(0), y: /a/g }), new Date(86400000), /x/i)
console.log(typeof require, typeof setTimeout, typeof console.error, typeof globalThis)
setTimeout(() => console.log(3), 30); setTimeout(() => console.log(2), 1); Promise.resolve().then(() => console.log(1)); console.log(0)
let n = 0; const t = setInterval(() => { console.log(n); if (++n === 3) clearInterval(t) }, 1)
console.log(new TextEncoder().encode("é"), new TextDecoder().decode(new Uint8Array([226, 130, 172])))
const p = require("path"); console.log(p.join("a", "../b/./c", "/d"), p.basename("/x/y.js", ".js"), p.dirname("/x/y"), p.dirname("y"), p.extname("a.b.js"), p.extname(".rc"), p.normalize("/a/../../b"))
const fs = require("fs"); console.log(fs.existsSync("/none/x"), typeof fs.readFileSync)
var v = 1; { let v = 2 } console.log(v)
class A { #x = 1; get x() { return this.#x } static y = 2 } console.log(new A().x, A.y, "abc".at(-1), Object.groupBy ? 1 : 1)
console.log([3, 1, 2].sort(), [1, 2, 3].toString(), parseInt("12px"), (0.1 + 0.2).toFixed(2))
console.group("g"); console.log("in\nit"); console.group(); console.log({ a: 1 }); console.groupEnd(); console.groupEnd(); console.log("out")
const u = new URL("../x/./y?q=1 2&r=é#frag ment", "HTTPS://us:pa ss@Example.com:443/a/b/c"); console.log(u); u.searchParams.append("z", "a&b"); u.port = 8080; u.hash = ""; console.log(String(u), u.searchParams.get("r"))
for (const x of ["http://127.1/", "http://[2001:db8:0:0:1:0:0:1]:80/", "file:///etc/x", "mailto:a@b.c", "foo://h:1/p/../q?x#y", "http:\\\\a\\b", "http://a/%2e%2e/x", "http://ex%41mple?b"]) console.log(new URL(x).href, new URL(x).host)
for (const x of ["", "nope", "http://", "http://a:99999", "http://[1]", "http://a b/", "http://1.2.3.256"]) try { console.log(new URL(x).href) } catch (e) { console.log(x, e.name, e.code) }
for (const x of ["?a", "#a", "//x/y", "", "a/b", "/a", "..", "g;x=1/../y", "http:g"]) console.log(new URL(x, "http://h/a/b/c;d?q#f").href)
const q = new URLSearchParams({ a: "1", b: "x y" }); q.append("a", "2"); console.log(q.toString(), [...q], q.getAll("a"), q.size); q.set("a", 3); q.sort(); console.log(q)
const o = { d: new Date(0), m: new Map([[1, { x: 1 }]]), s: new Set([1]), r: /a/g, u: new Uint8Array([1, 2]), n: null }, c = structuredClone(o); console.log(c, c !== o, c.m.get(1) !== o.m.get(1)); const a = [1]; a.push(a); console.log(structuredClone(a)[1][0])
try { structuredClone(() => 1) } catch (e) { console.log(e.name, e.message) }
const k = new AbortController(); k.signal.addEventListener("abort", (e) => console.log(e.type, k.signal.aborted, k.signal.reason.name)); k.abort(); k.abort(); try { k.signal.throwIfAborted() } catch (e) { console.log(e.message) } AbortSignal.timeout(60000)
console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.getRandomValues(new Uint32Array(4)).some((x) => x), new TextEncoder().encodeInto("aé€", new Uint8Array(4)), Object.keys(globalThis).includes("URL"))
process.on("exit", (c) => console.log("bye", c)); process.exitCode = 3; console.log(require.main === module, require("path").basename(__filename), __dirname[0], global === globalThis)
label: for (const i of [1, 2, 3]) { for (;;) { if (i === 2) break label; console.log(i); continue label } }
EOF

has "console.time and timeEnd" "$(run 'console.time("x"); console.timeEnd("x")')" "x: 0."
has "a module of node that is not there" "$(run 'require("os")')" "os is a module of node"
has "also by import" "$(run 'import { createServer } from "node:http"')" "http is a module of node"
has "and a package" "$(run 'import _ from "lodash"')" "no packages are looked for"
is "a script can do without it" "$(run 'try { require("os") } catch (e) { console.log(e.code) }')" MODULE_NOT_FOUND

# --- ends ---
is "the status of process.exit" "$(run 'process.exit(7)'; echo $?)" 7
is "and of process.exitCode" "$(run 'process.exitCode = 3; console.log(1)'; echo $?)" "1
3"
is "what is thrown at the exit counts" "$(run 'process.on("exit", () => { throw 1 })' >/dev/null; echo $?)" 1
has "what is thrown is reported with its place" "$(run 'function f() { throw new TypeError("no") } f()'; echo $?)" "x.js:1"
has "with the status 1" "$(run 'throw 1'; echo $?)" "
1"
has "as is a promise that nobody handles" "$(run 'Promise.reject(new Error("lost"))'; echo $?)" "Uncaught Error: lost"
is "one that is handled later is not" "$(run 'const p = Promise.reject(1); setTimeout(() => p.catch(() => console.log("ok")), 5)'; echo $?)" "ok
0"
has "a syntax error" "$(run 'let = = 1'; echo $?)" "SyntaxError"
has "no end of calls" "$(run 'function f() { f() } f()')" "RangeError"
is "a loop ends with its fuel" "$(js 'for (;;);' --fuel 400000000 -- x.js; echo $?)" "cordon-wasm: x.js: trap: out of fuel
124"
is "and with its time" "$(js 'for (;;);' --time 1s -- x.js >/dev/null; echo $?)" 124
hasnt "no more memory than the limit" "$(js 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))' --memory 64M -- x.js; echo $?)" "
0"

# --- doors ---
mkdir in out && echo 'export const y = 42;' >in/m.mjs && echo '{ "z": 1 }' >in/d.json && echo 'module.exports = { w: 2 };' >in/c.js && chmod -R a+rX in && chmod 777 out
has "without a door there is no file" "$(run 'require("fs").readFileSync("in/m.mjs")')" "ENOENT: no door"
is "modules through a door" "$(js 'import { y } from "./in/m.mjs"; import fs from "node:fs"; import { argv } from "process"; if (!argv) throw 1; console.log(y, fs.readdirSync("in")); await 1; console.log("after")' --read in -- x.js)" "42 [ 'c.js', 'd.json', 'm.mjs' ]
after"
is "and by require" "$(js 'console.log(require("./in/d.json").z, require("./in/c").w)' --read in -- x.js)" "1 2"
is "what is written through a door" "$(js 'const fs = require("fs"); fs.writeFileSync("out/a", "é"); fs.appendFileSync("out/a", new Uint8Array([33])); fs.mkdirSync("out/d/e", { recursive: true }); fs.renameSync("out/a", "out/d/b"); console.log(fs.readFileSync("out/d/b", "utf8"), fs.statSync("out/d/b").size)' --write out -- x.js; cat out/d/b)" "é! 3
é!"
has "a read door is for reading" "$(js 'require("fs").writeFileSync("in/m.mjs", "")' --read in -- x.js)" "EROFS"
has "nothing leads above a door" "$(js 'require("fs").readFileSync("in/../x.js")' --read in -- x.js)" "EPERM"
is "2 MB of text, byte for byte" "$(js 'const fs = require("fs"), s = "aé€😀".repeat(200000); fs.writeFileSync("out/big", s); console.log(fs.readFileSync("out/big", "utf8") === s, fs.statSync("out/big").size)' --write out -- x.js)" "true 2000000"
is "standard input" "$(echo 'console.log(require("fs").readFileSync(0, "utf8").trim().toUpperCase())' >x.js; echo abc | "$CORDON" run -q --wall wasm -- x.js)" ABC
is "arguments and variables" "$(js 'console.log(process.argv.slice(2), process.env.COLOUR)' --env COLOUR=red -- x.js a 'b c')" "[ 'a', 'b c' ] red"
has "no network" "$(run 'fetch("http://127.0.0.1")')" "no network door leads through the wasm wall"
has "and a script can catch that" "$(run 'fetch("http://127.0.0.1").catch(e => console.log("caught", e.message))')" "caught fetch: no network door"
is "the calls of the engine are not in reach" "$(run 'console.log(typeof wasi, typeof put, typeof at, Object.keys(host).length)')" "undefined undefined undefined 0"

# --- as an ordinary user, and with the functions of a program ---
is "as a user" "$(printf 'console.log("hi")\n' >u.js; chmod 644 u.js; as_user env CORDON_LEDGER=off "$CORDON" run -q --wall wasm -- "$T/u.js" 2>&1)" hi
is "--entry calls a function" "$(js 'function times(a, b) { return a * b }' --entry times -- x.js 6 7)" 42
is "also one of module.exports" "$(js 'exports.times = (a, b) => a * b' --entry times -- x.js 6 7)" 42
is "and an export" "$(js 'export function times(a, b) { return a * b }' --entry times -- x.js 6 7)" 42
is "also one that waits" "$(js 'const by = await 2; export const twice = a => a * by // end' --entry twice -- x.js 21)" 42
has "standard input has its hint" "$(run 'process.stdin.on("data", () => 0)')" "fs.readFileSync(0, 'utf8')"
echo 'require("fs").readFileSync("/etc/hostname")' >x.js
has "that denied paths are not reported here is said" "$("$CORDON" run --wall wasm -- x.js 2>&1)" "the wasm wall does not report blocked paths"
has "a script that is run as a program has its hint" "$("$CORDON" run --read . ./x.js a 2>&1)" "add --wall wasm"
has "a file that is not there" "$("$CORDON" run -q --wall wasm -- none.js 2>&1)" "x.wasm, x.js or x.mjs"
has "that is there" "$(js '1' --entry none -- x.js)" "the script has no function 'none'"
if [ -x "$BUILD/examples/calculator" ]; then
        is "a plugin in JavaScript calculates" "$(LD_LIBRARY_PATH=$BUILD "$BUILD/examples/calculator" 3 4 "$repo/examples/calculator/square.js" 2>&1)" \
                "$repo/examples/calculator/square.js: status 0, 3 calls: 25"
        echo 'function calculate() { console.log("out"); return 1 }' >loud.js
        has "and has no output of its own" "$(LD_LIBRARY_PATH=$BUILD "$BUILD/examples/calculator" 3 4 loud.js 2>&1)" "status 1, 0 calls"
fi
mkdir -p reg/quickjs-wasi/- package clone/src/wall/wasm/js && cp "$engine" package/ && cp "$repo/src/wall/wasm/js/js.h" clone/src/wall/wasm/js/
tar czf reg/quickjs-wasi/-/quickjs-wasi-3.6.2.tgz package
ok "tools/deps fetches the engine without npm" sh -c "cd clone && npm_config_registry=file://$T/reg sh $repo/tools/deps quickjs && cmp .deps/quickjs.wasm ../package/quickjs.wasm"
echo other >package/quickjs.wasm && tar czf reg/quickjs-wasi/-/quickjs-wasi-3.6.2.tgz package && rm -r clone/.deps
has "and takes no other file" "$(cd clone && PATH=/usr/bin:/bin npm_config_registry=file://$T/reg sh "$repo/tools/deps" quickjs 2>&1; ls .deps 2>&1)" "could not be fetched"
head -c 600000 "$engine" >"$T/cut" && cat "$T/cut" >"$engine"
has "another engine is not used" "$("$CORDON" run -q --wall wasm -- x.js 2>&1)" "is not the file that cordon knows"
done_testing
