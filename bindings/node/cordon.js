// SPDX-License-Identifier: MIT
// Runs code nobody trusts in a box with no doors but the ones you open. Speaks to the program `cordon`: the
// result comes as JSON on a descriptor of its own, the streams are the command's.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const remote = require("./remote.js");

const DOORS = ["use", "read", "write", "edit", "run", "net", "sock", "listen", "local"];
const LIMITS = ["time", "cpu", "memory", "procs", "files", "disk", "output", "egress", "ingress", "effects", "rate", "renew"];
const OTHERS = ["env", "policy", "program"];
const REMOTE = ["url", "token", "lines", "labels"];
const TIMES = ["time", "cpu", "renew"];

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

// Of a run on a server; its changes are there.
class RemoteResult extends Result {
  #client;

  constructor(client, raw) {
    const denials = (raw.blocked || []).map((d) => ({
      what: d.effect, code: d.code, reason: d.reason, why: d.why, permit: d.permit || null, count: d.count, minor: false, next_steps: [],
    }));
    const error = raw.error && { what: raw.error.message, hint: raw.error.hint };
    super("", { ...raw, exit: raw.status, denials, error, work: raw.changes && { layer: raw.changes } });
    this.#client = client;
    Object.assign(this, { raw, returncode: raw.status });
    this.ok = raw.end === "exited" && raw.status === 0;
  }

  async diff() {
    return this.work ? (await remote.read(await this.#client.send("GET", `/v1/changes/${this.work}?form=text`))).toString() : "";
  }

  async apply(paths = []) {
    if (paths.length) throw new CordonError("usage", "a server applies all changes of a run or none");
    if (this.work) await this.#client.ask("POST", `/v1/changes/${this.work}/apply`, {});
  }

  async discard() {
    if (this.work) await this.#client.ask("DELETE", `/v1/changes/${this.work}`);
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

function checkArgs(args) {
  if (!Array.isArray(args) || args.length === 0) throw new TypeError("args is a list of words, such as ['sh', '-c', 'echo hello']");
}

// What a run on a server takes besides its policy.
function orderOf(args, options) {
  checkArgs(args);
  const local = ["name", "stage", "ledger"].find((k) => options[k]);
  if (local) throw new CordonError("usage", `\`${local}\` is for local boxes`);
  return { argv: args, output: "base64", ...(options.cwd ? { cwd: options.cwd } : {}) };
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
  #client;
  #order;

  constructor(options = {}) {
    super();
    const known = [...DOORS, ...LIMITS, ...OTHERS, ...(options.url ? REMOTE : [])];
    const unknown = Object.keys(options).find((k) => !known.includes(k));
    if (unknown) throw new TypeError(`unknown door or limit ${JSON.stringify(unknown)}; doors are ${DOORS.join(", ")}`);

    this.#program = options.program || process.env.CORDON || "cordon";
    if (options.policy !== undefined) this.#doors.push("-p", options.policy);

    for (const word of DOORS)
      for (const door of typeof options[word] === "string" ? [options[word]] : options[word] || [])
        this.#doors.push(`--${word}`, door);

    for (const [name, value] of Object.entries(options.env || {}))
      this.#doors.push("--env", value === null ? name : `${name}=${value}`);

    for (const limit of LIMITS)
      if (options[limit] !== undefined) {
        const seconds = TIMES.includes(limit) && typeof options[limit] === "number";
        this.#doors.push(`--${limit}`, seconds ? `${Math.round(options[limit] * 1000)}ms` : String(options[limit]));
      }
    if (options.url) this.#goRemote(options);
  }

  // Doors and limits become lines within the tenant's ceiling.
  #goRemote(options) {
    this.#client = new remote.Client(options.url, options.token, CordonError);
    this.#order = {};
    let lines = options.lines || "";
    for (let i = options.policy === undefined ? 0 : 2; i < this.#doors.length; i += 2) {
      const word = this.#doors[i].slice(2);
      if (word !== "env") lines += `${LIMITS.includes(word) ? "limit " : ""}${word} ${this.#doors[i + 1]}\n`;
    }

    if (options.policy !== undefined && lines) throw new TypeError("a run on a server has `policy`, or doors within the tenant's ceiling");
    if (options.policy !== undefined) this.#order.policy = options.policy;
    if (lines) this.#order.lines = lines;
    for (const key of ["env", "labels"]) if (options[key]) this.#order[key] = options[key];
  }

  start(args, options = {}) {
    if (this.#client) return remote.startRun(this.#client, { ...this.#order, ...orderOf(args, options) }, options, (raw) => new RemoteResult(this.#client, raw));

    checkArgs(args);
    const flags = ["run", ...this.#doors];
    for (const name of ["cwd", "name", "stage", "ledger"]) if (options[name]) flags.push(`--${name}`, options[name]);

    return launchRun(this.#program, flags, args, options);
  }

  async session(options = {}) {
    if (this.#client) return new RemoteSession(this.#client, await this.#client.ask("POST", "/v1/sessions", { policy: this.#order.policy || "default" }));

    const flags = ["session", "new", "--json", ...this.#doors];
    if (options.name) flags.push(options.name);

    const { out } = await call(this.#program, flags, [0]);
    return new Session(this.#program, JSON.parse(out));
  }

  async doors() {
    if (this.#client) return this.#order.lines || (await this.#client.ask("GET", `/v1/policies/${this.#order.policy || "default"}`)).doors;

    return (await call(this.#program, ["doors", ...this.#doors], [0])).out;
  }

  #localOnly() {
    if (this.#client) throw new CordonError("usage", "a server does not explain decisions before a run", "a run reports what was blocked, and why");
  }

  async why(effect) {
    this.#localOnly();
    return (await call(this.#program, ["why", ...this.#doors, "--", ...effect.split(" ")], [0, 1])).out;
  }

  async allows(effect) {
    this.#localOnly();
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
    checkArgs(args);
    const flags = ["session", "run", this.id];
    if (options.cwd) flags.push("--cwd", options.cwd);

    return launchRun(this.#program, flags, args, options);
  }

  async end() {
    const { out } = await call(this.#program, ["session", "end", "--json", this.id], [0]);
    return new Result(this.#program, JSON.parse(out));
  }
}

class RemoteSession extends Session {
  #client;

  constructor(client, said) {
    super("", { session: said.id, name: "" });
    this.#client = client;
  }

  start(args, options = {}) {
    return remote.startRun(this.#client, { session: this.id, ...orderOf(args, options) }, options, (raw) => new RemoteResult(this.#client, raw));
  }

  async end() {
    let said = await this.#client.ask("DELETE", `/v1/sessions/${this.id}`);
    for (let i = 0; i < 600 && said.state !== "ended"; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      said = await this.#client.ask("GET", `/v1/sessions/${this.id}`);
    }
    return new RemoteResult(this.#client, { end: "exited", status: 0, ...said });
  }
}

// `await using`, where the language has it.
const dispose = Symbol.asyncDispose;
if (dispose) {
  Box.prototype[dispose] = async () => {};
  Session.prototype[dispose] = async function () {
    await this.end();
  };
}

module.exports = { Box, Session, CordonError, RunError };
