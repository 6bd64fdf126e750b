// SPDX-License-Identifier: MIT
// Runs code nobody trusts in a box with no doors but the ones you open. Speaks to the program `cordon`: the
// result comes as JSON on a descriptor of its own, the streams are the command's.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const DOORS = ["use", "read", "write", "edit", "run", "net", "sock", "listen", "local"];
const LIMITS = ["time", "cpu", "memory", "procs", "files", "disk", "output", "egress", "ingress", "effects", "rate", "renew"];
const OTHERS = ["env", "policy", "program"];

class CordonError extends Error {
  constructor(code, what, hint) {
    super(hint ? `${what}\n${hint}` : what);
    this.name = "CordonError";
    Object.assign(this, { code, what, hint: hint || "" });
  }
}

class RunError extends Error {
  constructor(result) {
    super(result.summary());
    this.name = "RunError";
    this.result = result;
  }
}

function status(raw) {
  if (raw.end === "exited") return raw.exit;
  if (raw.end === "signaled") return 128 + raw.signal;
  if (raw.end === "limit") return 124;

  return raw.error && raw.error.errno === constants.errno.ENOENT ? 127 : 126;
}

class Result {
  constructor(program, raw, stdout, stderr) {
    const error = raw.error || {};
    Object.defineProperty(this, "program", { value: program, enumerable: false });
    Object.assign(this, {
      end: raw.end, returncode: status(raw), stdout, stderr, denials: raw.denials || [], limit: raw.limit || null,
      error: error.what, hint: error.hint, work: raw.work && raw.work.layer, run: raw.run || "", raw,
    });
    this.ok = this.end === "exited" && this.returncode === 0;
  }

  summary() {
    const lines = [this.error || this.#endInWords()];
    if (this.hint) lines.push(this.hint);

    for (const d of this.denials)
      if (!d.minor) lines.push(`blocked: ${d.what} (${d.why})` + (d.permit ? `; to permit it: ${d.permit}` : ""));

    return lines.join("\n");
  }

  #endInWords() {
    if (this.end === "limit") return `stopped: the limit ${this.limit} was reached`;
    if (this.end === "signaled") return `killed by signal ${this.raw.signal}`;

    return `${this.end} with status ${this.returncode}`;
  }

  async diff() {
    return this.work ? (await call(this.program, ["diff", this.work], [0, 1])).out : "";
  }

  async apply(paths = []) {
    if (this.work) await call(this.program, ["apply", this.work, ...paths], [0]);
  }

  async discard() {
    if (this.work) await call(this.program, ["discard", this.work], [0]);
  }
}

// Collects a stream.
function whole(stream) {
  return new Promise((resolve, reject) => {
    const pieces = [];
    stream.on("data", (piece) => pieces.push(piece));
    stream.on("error", reject);
    stream.on("end", () => resolve(Buffer.concat(pieces)));
  });
}

// Starts the program; resolves to its exit status.
function launch(program, args, options) {
  const child = spawn(program, args, options);
  child.status = new Promise((resolve, reject) => {
    child.on("error", (x) => reject(new CordonError("host", `cannot start ${program}: ${x.message}`,
      "install cordon, or let `program` or the variable CORDON name it")));
    child.on("close", (code) => resolve(code));
  });

  return child;
}

// One command of cordon itself, to its end.
async function call(program, args, good) {
  const child = launch(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([whole(child.stdout), whole(child.stderr), child.status]);
  if (good.includes(code)) return { out: out.toString(), code };

  const lines = err.toString().split("\n");
  const find = (word) => (lines.find((l) => l.startsWith(`cordon: ${word}: `)) || "").slice(`cordon: ${word}: `.length);
  throw new CordonError("command", find("error") || err.toString().trim(), find("hint"));
}

// Starts a command of cordon that runs another one: streams of that one, and a promise of its result.
function launchRun(program, flags, args, options) {
  const child = launch(program, [...flags, "-q", "-T", "--status-fd", "3", "--", ...args], { stdio: ["pipe", "pipe", "pipe", "pipe"] });
  const run = { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, kill: (s = "SIGTERM") => child.kill(s) };
  const said = whole(child.stdio[3]);
  child.stdin.on("error", () => {}); // the command need not read its input

  const abort = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 2000).unref(); // the box ends with the program
  };
  if (options.signal) {
    if (options.signal.aborted) abort();
    options.signal.addEventListener("abort", abort, { once: true });
  }

  run.result = (async () => {
    const [text, code] = await Promise.all([said, child.status]);
    if (options.signal) {
      options.signal.removeEventListener("abort", abort);
      options.signal.throwIfAborted();
    }

    const line = text.toString().trim().split("\n").pop();
    if (!line) throw new CordonError("usage", `cordon ended with status ${code} and no result`, "try the same with `cordon run`");

    const raw = JSON.parse(line);
    if (raw.end === "failed") throw new CordonError(raw.error.code, raw.error.what, raw.error.hint);

    return new Result(program, raw);
  })();
  run.result.catch(() => {}); // whoever awaits it gets the error

  return run;
}

// What starts commands runs them to their end as well.
class Starts {
  async run(args, options = {}) {
    const run = this.start(args, options);
    run.stdin.end(options.input);
    const [out, err] = await Promise.all([whole(run.stdout), whole(run.stderr)]);
    const result = await run.result;
    const text = options.encoding !== "buffer";
    Object.assign(result, { stdout: text ? out.toString() : out, stderr: text ? err.toString() : err });
    if (options.check && !result.ok) throw new RunError(result);

    return result;
  }
}

class Box extends Starts {
  #doors = [];
  #program;

  constructor(options = {}) {
    super();
    const unknown = Object.keys(options).find((k) => ![...DOORS, ...LIMITS, ...OTHERS].includes(k));
    if (unknown) throw new TypeError(`unknown door or limit ${JSON.stringify(unknown)}; doors are ${DOORS.join(", ")}`);

    this.#program = options.program || process.env.CORDON || "cordon";
    if (options.policy !== undefined) this.#doors.push("-p", options.policy);

    for (const word of DOORS)
      for (const door of typeof options[word] === "string" ? [options[word]] : options[word] || [])
        this.#doors.push(`--${word}`, door);

    for (const [name, value] of Object.entries(options.env || {}))
      this.#doors.push("--env", value === null ? name : `${name}=${value}`);

    for (const limit of LIMITS) if (options[limit] !== undefined) this.#doors.push(`--${limit}`, String(options[limit]));
  }

  start(args, options = {}) {
    if (!Array.isArray(args) || args.length === 0)
      throw new TypeError("args is a list of words, such as ['sh', '-c', 'echo hello']");

    const flags = ["run", ...this.#doors];
    for (const name of ["cwd", "name", "stage", "ledger"]) if (options[name]) flags.push(`--${name}`, options[name]);

    return launchRun(this.#program, flags, args, options);
  }

  async session(options = {}) {
    const flags = ["session", "new", "--json", ...this.#doors];
    if (options.name) flags.push(options.name);

    const { out } = await call(this.#program, flags, [0]);
    return new Session(this.#program, JSON.parse(out));
  }

  async doors() {
    return (await call(this.#program, ["doors", ...this.#doors], [0])).out;
  }

  async why(effect) {
    return (await call(this.#program, ["why", ...this.#doors, "--", ...effect.split(" ")], [0, 1])).out;
  }

  async allows(effect) {
    return (await call(this.#program, ["why", ...this.#doors, "--", ...effect.split(" ")], [0, 1])).code === 0;
  }
}

// A box that stays, for many commands: files and background processes are kept from one to the next.
class Session extends Starts {
  #program;

  constructor(program, said) {
    super();
    this.#program = program;
    Object.assign(this, { id: said.session || said.run, name: said.name });
  }

  start(args, options = {}) {
    if (!Array.isArray(args) || args.length === 0)
      throw new TypeError("args is a list of words, such as ['sh', '-c', 'echo hello']");

    const flags = ["session", "run", this.id];
    if (options.cwd) flags.push("--cwd", options.cwd);

    return launchRun(this.#program, flags, args, options);
  }

  async end() {
    const { out } = await call(this.#program, ["session", "end", "--json", this.id], [0]);
    return new Result(this.#program, JSON.parse(out));
  }
}

module.exports = { Box, Session, CordonError, RunError };
