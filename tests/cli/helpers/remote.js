// remote.js MODULE URL TOKEN - the Node package against a server.
"use strict";
const [, , module_, url, token] = process.argv;
const { Box, Session, CordonError, RunError } = require(module_);
const ok = (what, good, said) => console.log(`${good ? "ok" : "not ok"} ${what}${good ? "" : ` (${JSON.stringify(said)})`}`);
const fails = async (call) => call().then(() => "nothing", (x) => (x instanceof CordonError ? x.code : String(x)));

(async () => {
  const box = new Box({ url, token, env: { E: "a b" }, labels: { from: "js" } });
  const r = await box.run(["sh", "-c", "cat; echo $E; echo oops >&2; exit 3"], { input: "in " });
  ok("a run", r.stdout === "in a b\n" && r.stderr === "oops\n" && r.returncode === 3 && r.end === "exited" && !r.ok, r);
  ok("bytes", (await box.run(["cat"], { input: Buffer.from([255, 0, 1]), encoding: "buffer" })).stdout.equals(Buffer.from([255, 0, 1])));
  ok("long output is whole", (await box.run(["seq", "200000"])).stdout.length === 1288895);
  const d = (await box.run(["curl", "-s", "http://example.com"])).denials;
  ok("denials", d.some((x) => x.permit === "net example.com:80" && x.code === "net"), d);
  ok("check", await box.run(["false"], { check: true }).then(() => false, (x) => x instanceof RunError && x.result.returncode === 1));
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 500);
  ok("abort", await box.run(["sleep", "60"], { signal: stop.signal }).then(() => false, (x) => x.name === "AbortError"));
  ok("its doors", (await box.doors()).includes("reachable"));
  ok("no explanations", (await fails(() => box.why("read /"))) === "usage");
  ok("a wrong token", (await fails(() => new Box({ url, token: "x" }).run(["true"]))) === "token");
  ok("no server", (await fails(() => new Box({ url: "unix:/nowhere/x", token }).run(["true"]))) === "host");
  const edits = new Box({ url, token, policy: "ed" });
  const c = await edits.run(["sh", "-c", "echo js >js"]);
  ok("changes", Boolean(c.work) && (await c.diff()).includes("js"), c.raw);
  await c.apply();
  ok("apply", (await edits.run(["cat", "js"])).stdout === "js\n");
  const s = await box.session();
  await s.run(["sh", "-c", "echo kept >/tmp/x"]);
  ok("a session keeps", s instanceof Session && (await s.run(["cat", "/tmp/x"])).stdout === "kept\n");
  ok("and ends", (await s.end()).raw.state === "ended");
  ok("a number is seconds", (await new Box({ time: 1 }).run(["sleep", "30"])).limit === "time");
  ok("doors within the ceiling", (await new Box({ url, token, use: "base/system", read: "{work}", time: 30 }).run(["echo", "x"])).stdout === "x\n");
})().catch((x) => ok(`it ends (${x.stack})`, false));
