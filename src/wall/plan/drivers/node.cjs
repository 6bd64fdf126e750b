// SPDX-License-Identifier: MIT
// The driver of a warm node: started in a parked box as `node --expose-internals -r DRIVER MAIN LINE MODULE...`, it loads
// the modules, waits for the arguments of its one run on the socket LINE, and becomes what `node ARGUMENTS` would be. It
// is part of the payload: nothing outside trusts it.
//
// It waits where node asks for the function that runs the main module, so that node's own code runs the program.
'use strict';
const { isMainThread } = require('worker_threads');
const Module = require('module');
const builtin = Object.getOwnPropertyDescriptor(Module, 'builtinModules');
const set = (list, ...values) => list.splice(0, list.length, ...values);

// Threads of the program load this file too, and inherit our options.
const forget = () => {
  const own = process.execArgv.indexOf(__filename);
  if (own >= 0) set(process.execArgv, ...process.execArgv.slice(own + 1));
  delete require.cache[__filename];
  set(process._preload_modules);
  const names = builtin.value.filter((name) => !name.startsWith('internal/'));
  Object.defineProperty(Module, 'builtinModules', { ...builtin, value: Object.freeze(names) });
};

if (!isMainThread) {
  forget();
} else {
  const fs = require('fs');
  const path = require('path');
  const line = Number(process.argv[2]);
  const execution = require('internal/process/execution');
  const helpers = require('internal/modules/helpers');
  const { getOptionValue } = require('internal/options');
  const usual = Object.getOwnPropertyDescriptor(Module, 'runMain');

  // The length of the rest, then words that end with NUL.
  const take = () => {
    const room = Buffer.alloc(1 << 17);
    const next = () => {
      const n = fs.readSync(line, room);
      if (n === 0) process.reallyExit(0);
      return Buffer.from(room.subarray(0, n));
    };
    const head = next();
    const left = head.readUInt32LE(0);
    let words = head.subarray(4);
    while (words.length < left) words = Buffer.concat([words, next()]);
    fs.closeSync(line);
    return words.toString('utf8', 0, left).split('\0').slice(0, -1);
  };

  // As internal/main/eval_string does it; the identifier crypto is the module.
  const evaluate = (option, source) => {
    const print = option !== '-e' && option !== '--eval';
    const wraps = process.binding('natives')['internal/main/eval_string'].includes('shouldDefineCrypto');
    if (wraps && getOptionValue('--experimental-global-webcrypto') && /\bcrypto\b/.test(source)) {
      source = print ? `let crypto=require("node:crypto");{${source}}` :
        `(crypto=>{{${source}}})(require('node:crypto'))`;
    }
    helpers.addBuiltinLibsToObject(globalThis, '<eval>');
    return execution.evalScript.bind(undefined, '[eval]', source, false, print, false);
  };

  // A version whose evalScript() is not the one known here: a new node, with our streams.
  const startAnew = (args) => () => {
    const { status, signal } = require('child_process').spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (signal) process.kill(process.pid, signal);
    process.reallyExit(status);
  };

  const become = ([one, , option, ...rest]) => {
    if (one === '1') {
      fs.closeSync(2);
      fs.openSync('/proc/self/fd/1', fs.constants.O_WRONLY);
    }
    set(process.execArgv);
    if (option[0] !== '-') {
      set(process.argv, process.argv[0], path.resolve(option), ...rest);
      return usual.value.bind(Module, process.argv[1]);
    }
    const [source, ...args] = rest;
    if (process.binding('natives')['internal/main/eval_string'].includes('evalTypeScript')) {
      return startAnew([option, source, ...args]);
    }
    set(process.argv, process.argv[0], ...args);
    set(process.execArgv, option, source);
    process._eval = source;
    return evaluate(option, source);
  };

  // Loaded by every program that prints or reads, at its first use.
  for (const name of ['net', 'tty', 'vm', 'stream', 'url', 'timers', 'child_process']) require(name);

  try {
    const load = Module.createRequire(path.join(process.cwd(), '/'));
    for (const name of process.argv.slice(3)) load(name);
  } catch (e) {
    fs.writeSync(line, Buffer.from(`E${e}`).subarray(0, 200));
    process.reallyExit(1);
  }

  Object.defineProperty(Module, 'runMain', {
    configurable: true,
    enumerable: true,
    get() {
      forget();
      Object.defineProperty(Module, 'runMain', usual);
      fs.writeSync(line, 'R');
      return become(take());
    },
  });
}
