// SPDX-License-Identifier: MIT
// The Node package as a program of somebody else uses it: prints `ok NAME` and `not ok NAME` lines.
"use strict";
const fs = require("node:fs");
const { Box, CordonError, RunError } = require(process.argv[2]);

const expect = (good, name) => console.log(good ? "ok" : "not ok", name);
const raised = async (kind, call) => {
  try {
    await call();
  } catch (x) {
    return x instanceof kind ? x : null;
  }
  return null;
};

async function main() {
  const box = new Box({ time: "60s", read: ["/etc/hostname"], env: { A: "b" } });
  let r = await box.run(["sh", "-c", "echo out; echo err >&2; exit 3"]);
  expect(r.end === "exited" && r.returncode === 3 && r.stdout === "out\n" && r.stderr === "err\n" && !r.ok, "a run has its end and its output");
  expect((await box.run(["sh", "-c", "kill -9 $$"])).returncode === 137, "a signal is 128+n, as in a shell");
  expect((await box.run(["cat"], { input: "text" })).stdout === "text", "text is passed as input");
  const bytes = Buffer.from([0, 255]);
  expect((await box.run(["cat"], { input: bytes, encoding: "buffer" })).stdout.equals(bytes), "so are bytes");
  const large = "x".repeat(3e6);
  expect((await box.run(["cat"], { input: large })).stdout === large, "large input and output do not block each other");
  expect((await box.run(["sh", "-c", "echo $A"])).stdout === "b\n", "variables are set");

  let x = await raised(RunError, () => box.run(["sh", "-c", "cat /etc/shadow; exit 1"], { check: true }));
  expect(x && x.result.returncode === 1 && x.result.denials.some((d) => d.what.includes("/etc/shadow")), "check rejects, with what was denied");
  x = await raised(RunError, () => box.run(["no-such-program"], { check: true }));
  expect(x && x.result.returncode === 127 && x.message.includes("no-such-program"), "a missing program is said");
  x = await raised(CordonError, () => new Box({ read: "/no/such/file" }).run(["true"]));
  expect(x && x.what.includes("/no/such/file") && x.hint, "a bad door is an error with a hint");
  expect(await raised(TypeError, () => new Box({ raed: ["."] })), "a misspelt door is refused");
  expect(await raised(TypeError, () => box.run("echo hello")), "a text is not a list of words");
  expect(await raised(CordonError, () => new Box({ program: "/no/such/program" }).run(["true"])), "a missing cordon is said");
  r = await new Box({ time: "1s" }).run(["sleep", "60"]);
  expect(r.end === "limit" && r.limit === "time" && r.returncode === 124, "a limit ends a run, and is named");
  expect((await box.allows("read /etc/hostname")) && !(await box.allows("read /etc/shadow")), "decisions can be asked for");
  expect((await box.doors()).includes("/etc/hostname"), "so can the doors");

  const dir = fs.mkdtempSync(`${process.argv[3]}/node.`);
  fs.writeFileSync(`${dir}/file`, "old\n");
  const edits = new Box({ edit: dir });
  r = await edits.run(["sh", "-c", "echo new >file"], { cwd: dir });
  expect((await r.diff()).includes("+new") && fs.readFileSync(`${dir}/file`, "utf8") === "old\n", "changes are held back, and shown");
  await r.apply();
  expect(fs.readFileSync(`${dir}/file`, "utf8") === "new\n", "and applied");
  r = await edits.run(["sh", "-c", "echo newer >file"], { cwd: dir });
  await r.discard();
  expect(fs.readFileSync(`${dir}/file`, "utf8") === "new\n", "or thrown away");

  const session = await edits.session();
  await session.run(["sh", "-c", "echo kept >more; echo two >/tmp/kept"], { cwd: dir, check: true });
  r = await session.run(["cat", "more", "/tmp/kept"], { cwd: dir });
  expect(r.stdout === "kept\ntwo\n", "a session keeps its files from one command to the next");
  r = await session.end();
  expect((await r.diff()).includes("+kept") && !fs.existsSync(`${dir}/more`), "it holds the changes back");
  await r.apply();
  expect(fs.readFileSync(`${dir}/more`, "utf8") === "kept\n", "and they are applied");
  x = await session.run(["true"]).catch((e) => e);
  expect(x.name === "CordonError", "a session that has ended runs nothing");

  process.chdir(dir);
  const page = fs.readFileSync(process.argv[4], "utf8").split("```js\n")[1].split("```")[0];
  const ours = (name) => (name === "cordon" ? { Box } : require(name));
  const runJavaScript = new Function("require", `${page}; return runJavaScript`)(ours);
  expect((await runJavaScript({ code: "console.log(6*7)" })) === "42\n", "the function of the page for frameworks runs code");

  const abort = new AbortController();
  const run = box.start(["sh", "-c", "echo ready; sleep 60"], { signal: abort.signal });
  run.stdin.end();
  for await (const piece of run.stdout) {
    expect(String(piece) === "ready\n", "output comes as it is written");
    abort.abort();
  }
  x = await run.result.catch((e) => e);
  expect(x.name === "AbortError", "aborting ends the box");
}

main().catch((x) => {
  console.log("not ok", x.stack.split("\n").join(" | "));
  process.exitCode = 1;
});
