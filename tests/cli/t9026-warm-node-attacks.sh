#!/bin/sh
# Attacks on and by a warm node: what one run leaves for the next, modules that attack their driver while the box is parked, and
# what is changed behind a box that is parked.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
if ! [ -x /usr/bin/node ] || ! /usr/bin/node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
        skip "attacks on a warm node" "node of at least 20 is not installed"
        done_testing
fi
elsewhere warm-node
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; remove "$T" "$D"; exit $code' EXIT
root() { "$@"; }
before=$(orphans)
is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
ready() { soon is_ready; }
how() { run run --json -p "$T/d/p" "$@" 2>&1 >/dev/null | tail -n 1 | jq -r '.start + " " + (.start_why // "")'; }
warm() { run run -q --pool require -p "$T/d/p" "$@" 2>&1; }
policy() { printf 'box w\nuse base/system\nread %s\nwarm node require %s/m.js\nlimit time 20s\n' "$M" "$M" >"$T/d/p"; }
# parks TEXT: boxes whose module has this text; what that says is in $T/err
parks() {
        run serve pool rm --all >/dev/null 2>&1
        printf '%s\n' "$1" >"$M/m.js"
        run serve pool add --size 1 -p "$T/d/p" >/dev/null 2>"$T/err"
}

# All that a program can see of the one before.
leave='const fs = require("fs"), Module = require("module"), m = require.cache[process.argv[1]];
require("child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).unref();
globalThis.left = 1; Object.prototype.left = 1; Array.prototype.left = 1; process.env.LEFT = "1"; process.title = "left"; process.left = 1; fs.left = 1;
m.exports.value = "left"; require.cache["/left"] = m; Module._load = () => "left"; Module._extensions[".left"] = 1; Module.globalPaths.push("/left");
process.on("exit", () => {}); process.umask(0); fs.mkdirSync("/tmp/left"); process.chdir("/tmp/left"); fs.openSync("/etc/passwd");
setInterval(() => fs.writeFileSync("/tmp/left/timer", "x"), 1); setTimeout(() => process.exit(0), 50); console.log("left")'
look='const fs = require("fs"), Module = require("module"), m = require.cache[process.argv[1]];
console.log(m.exports, Object.keys(require.cache), Object.keys(Module._extensions), Module.globalPaths, Reflect.ownKeys(globalThis).length, {}.left, [].left, fs.left, process.left, process.env, process.title,
typeof require("os").cpus, process.listenerCount("exit"), process.umask(), process.cwd(), fs.readdirSync("/tmp"), fs.readdirSync("/proc/self/fd").length, process._getActiveHandles().length, process.getActiveResourcesInfo(),
fs.readdirSync("/proc").filter((n) => +n).map((n) => { try { return fs.readFileSync(`/proc/${n}/cmdline`, "latin1"); } catch { return ""; } }).filter((c) => c.startsWith("sleep")))'

for who in root as_user; do
        rt=$T/rt.$who M=$D/$who
        mkdir -m 700 "$rt" && { [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$rt"; }
        mkdir "$M" && policy
        serve

        # ---- one run and the next ----
        ok "$who: a module" parks 'exports.value = "own"'
        ready
        first=$(warm -- node -e "$look" "$M/m.js")
        has "$who: it is loaded" "$first" "{ value: 'own' }"
        hasnt "$who: nothing is left before" "$first" left
        ready
        is "$who: a run that leaves all it can" "$(warm -- node -e "$leave" "$M/m.js")" left
        ready
        is "$who: the next finds what the first found" "$(warm -- node -e "$look" "$M/m.js")" "$first"
        ready
        is "$who: what is loaded sees no secret of the host" "$(parks 'try { exports.value = require("fs").readFileSync("/etc/shadow", "utf8") } catch (e) { exports.value = e.code }'; ready; warm -- node -p 'require(process.argv[1]).value' "$M/m.js")" ENOENT

        # ---- a module that attacks ----
        is "$who: one that says it is ready, and takes the run itself, is the payload" "$(parks 'const fs = require("fs"), line = Number(process.argv[2]);
fs.writeSync(line, "R"); const b = Buffer.alloc(4096), n = fs.readSync(line, b); fs.writeSync(1, b.subarray(4, n).toString().split("\0")[3]); process.reallyExit(7)'
                ready; warm -- node -e mine; echo " $?")" "mine 7"
        is "$who: one that talks without end, and does not listen, ends" "$(parks 'const fs = require("fs"); for (let i = 0; i < 500; i++) try { fs.writeSync(Number(process.argv[2]), "R".repeat(200)) } catch { break }'
                ready; warm --time 1s -- node -p 1 >/dev/null || echo ended)" ended
        is "$who: one that closes its line" "$(parks 'require("fs").closeSync(Number(process.argv[2]))'; run run -q -p "$T/d/p" -- node -e 'console.log("ran")' 2>/dev/null)" ran
        is "$who: one that exits" "$(parks 'process.reallyExit(0)'; echo $?) $(run run --json -p "$T/d/p" -- node -p 1 2>&1 >/dev/null | tail -n 1 | jq -r .start)" "125 cold"
        is "$who: one that throws text for a terminal" "$(parks 'throw "\x1b[2J\x1b]0;x\x07" + "y".repeat(100000)'; echo $?) $(tr -d '\n[:print:]' <"$T/err" | wc -c)" "125 0"
        ok "$who: with its reason" grep -q 'warming node' "$T/err"
        is "$who: one that leaves a process with its line" "$(parks 'require("child_process").spawn("sleep", ["1000"], { detached: true, stdio: [0, 1, 2, Number(process.argv[2])] }).unref()'
                ready; warm -- node -p '6 * 7')" 42
        is "$who: one that replaces what the driver calls" "$(parks 'const fs = require("fs"); fs.readSync = () => { throw 1 }; Buffer.concat = () => null; Array.prototype.splice = () => null'
                run run -q -p "$T/d/p" -- node -p 1 >/dev/null 2>&1; run serve pool stats --json | jq -r 'has("parked")')" true

        # ---- changed while it is parked ----
        ok "$who: a module as before" parks 'exports.value = "own"'
        ready
        is "$who: what the box has loaded stays" "$(echo 'exports.value = "new"' >"$M/m.js"; warm -- node -p 'require(process.argv[1]).value' "$M/m.js")" own
        ready
        mv "$M" "$M.old" && mkdir "$M" && echo 'exports.value = "other"' >"$M/m.js"
        has "$who: a door that was replaced" "$(how -- node -e 0)" "cold no box is parked for this plan"
        is "$who: has what is there now" "$(run run -q -p "$T/d/p" -- node -p 'require(process.argv[1]).value' "$M/m.js")" other
        rm -r "$M" && mv "$M.old" "$M"
        is "$who: the old one is the plan again" "$(how -- node -e 0)" "warm "
        ready
        echo 'env LATE=1' >>"$T/d/p"
        has "$who: a policy that was edited" "$(how -- node -e 0)" "cold no box is parked for this plan"
        policy
        has "$who: options of node by a variable" "$(how --env NODE_OPTIONS=--require=/tmp/x -- node -e 0)" "cold "
        kill -TERM "$serve"
        ok "$who: all of it ends" soon gone "$serve"
done
ok "nothing is left" none_left
done_testing
