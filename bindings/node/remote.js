// SPDX-License-Identifier: MIT
// Boxes of a `cordon serve` by URL, for cordon.js: requests, and a run that looks like a local one.
"use strict";

const http = require("node:http");
const https = require("node:https");
const { PassThrough } = require("node:stream");

const PART = 8 << 20;
const RETRIES = 5;

class Client {
  #url;
  #token;
  #CordonError;

  constructor(url, token, CordonError) {
    if (!/^(https?:\/\/|unix:\/)/.test(url)) throw new TypeError(`${url} is not http://, https:// or unix:/PATH`);
    this.#url = url;
    this.#token = token || process.env.CORDON_TOKEN || "";
    this.#CordonError = CordonError;
  }

  error(code, what, hint) {
    return new this.#CordonError(code, what, hint);
  }

  // Resolves to the answer, whose body is not read; an error answer rejects.
  send(method, path, body, headers = {}) {
    const unix = this.#url.startsWith("unix:");
    const target = unix ? { socketPath: this.#url.slice(5), path } : new URL(path, this.#url);
    const options = { method, agent: false, headers: { Authorization: `Bearer ${this.#token}`, Host: unix ? "localhost" : target.host, ...headers } };
    const text = body === undefined ? undefined : JSON.stringify(body);
    if (text !== undefined) Object.assign(options.headers, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
    return new Promise((resolve, reject) => {
      const take = async (answer) => {
        if (answer.statusCode < 400) return resolve(answer);
        let said = {};
        try {
          said = JSON.parse((await read(answer)).toString());
        } catch { /* not ours */ }
        reject(this.error(String(said.type || "host").split(":").pop(), said.detail || `the server answered ${answer.statusCode}`, said.hint));
      };
      const lib = !unix && target.protocol === "https:" ? https : http;
      const request = unix ? lib.request({ ...options, ...target }, take) : lib.request(target, options, take);
      request.on("error", (x) => reject(this.error("host", `${this.#url}: ${x.message}`, "is `cordon serve --http` running there?")));
      request.end(text);
    });
  }

  async ask(method, path, body, headers) {
    return JSON.parse((await read(await this.send(method, path, body, headers))).toString());
  }
}

async function read(answer) {
  const pieces = [];
  for await (const piece of answer) pieces.push(piece);
  return Buffer.concat(pieces);
}

// Events behind `after`, as they come.
async function* events(client, id, state) {
  const answer = await client.send("GET", `/v1/runs/${id}/events`, undefined, state.after ? { "Last-Event-ID": state.after } : {});
  let text = "";
  for await (const piece of answer) {
    text += piece;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const of = Object.fromEntries(text.slice(0, end).split("\n").map((l) => [l.split(": ", 1)[0], l.slice(l.indexOf(": ") + 2)]));
      if (of.event) yield [of.event, JSON.parse(of.data)];
      if (of.id) state.after = of.id;
    }
  }
}

// As cordon.js starts a local one: streams, kill(), and a promise of the result. It is sent when its input ends.
function startRun(client, order, options, makeResult) {
  const run = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), id: null };
  const count = { stdout: 0, stderr: 0 };
  let ended = false;
  run.kill = () => {
    if (run.id && !ended) client.ask("DELETE", `/v1/runs/${run.id}`).catch(() => {});
    else if (!ended) run.stdin.destroy(client.error("usage", "the run was ended before it was sent"));
  };

  run.result = (async () => {
    const input = await read(run.stdin);
    if (input.length) order.stdin_base64 = input.toString("base64");
    run.id = (await client.ask("POST", "/v1/runs", order, { Prefer: "respond-async" })).id;
    if (options.signal) {
      if (options.signal.aborted) run.kill();
      options.signal.addEventListener("abort", run.kill, { once: true });
    }

    let raw;
    const state = { after: "" };
    for (let attempt = 1; !raw; attempt++) {
      try {
        for await (const [name, said] of events(client, run.id, state)) {
          if (name === "end") raw = said;
          if (name !== "output") continue;
          const piece = Buffer.from(said.base64, "base64");
          count[said.stream] += piece.length;
          run[said.stream].write(piece);
        }
      } catch (x) {
        if (attempt === RETRIES) throw x;
      }
      if (!raw && attempt === RETRIES) throw client.error("host", `the events of run ${run.id} end before it does`);
    }

    ended = true;
    for (const stream of ["stdout", "stderr"])
      while (count[stream] < (raw[`${stream}_bytes`] || 0)) { // events have the beginning of long output
        const piece = await read(await client.send("GET", `/v1/runs/${run.id}/${stream}`, undefined,
          { Range: `bytes=${count[stream]}-${count[stream] + PART - 1}` }));
        if (!piece.length) break;
        count[stream] += piece.length;
        run[stream].write(piece);
      }
    if (options.signal) {
      options.signal.removeEventListener("abort", run.kill);
      options.signal.throwIfAborted();
    }

    const error = raw.error || {};
    if (raw.status === 125) throw client.error(error.code || "host", error.message || `the run was ${raw.end}`, error.hint);

    return makeResult(raw);
  })();
  run.result.catch(() => {}).finally(() => {
    run.stdout.end();
    run.stderr.end();
  });

  return run;
}

module.exports = { Client, startRun, read };
