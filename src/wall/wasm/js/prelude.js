/* SPDX-License-Identifier: MIT */
/* wasm/js/prelude.js - what scripts find: console, process, fs, timers, text, require, import, and the functions of the
 * program that started the box. It is called with the functions of js_host.c, and returns what js_run.c calls. */
// Calls of WASI: one buffer holds results, paths and data.
(function (wasi, put, get, at, call, web, names) {
        "use strict";
        const PATH = 1024, SECOND = 6144, DATA = 16384, SIZE = 131072;
        const room = new Uint8Array(SIZE), base = at(room.buffer), view = new DataView(room.buffer);
        const errors = {
                2: ["EACCES", "permission denied"], 8: ["EBADF", "bad file descriptor"],
                20: ["EEXIST", "file already exists"], 28: ["EINVAL", "invalid argument"],
                31: ["EISDIR", "illegal operation on a directory"], 32: ["ELOOP", "too many symbolic links"],
                33: ["EMFILE", "too many open files"], 37: ["ENAMETOOLONG", "name too long"],
                44: ["ENOENT", "no such file or directory"], 51: ["ENOSPC", "no space left on device"],
                54: ["ENOTDIR", "not a directory"], 55: ["ENOTEMPTY", "directory not empty"],
                63: ["EPERM", "operation not permitted"], 69: ["EROFS", "the door is for reading"],
                76: ["EPERM", "the door is for reading"]
        };
        function fail(errno, what, path) {
                const [code, text] = errors[errno] ?? ["EIO", "error " + errno];
                const e = new Error(code + ": " + text + ", " + what + (path === undefined ? "" : " '" + path + "'"));
                e.code = code;
                e.syscall = what;
                e.path = path;
                throw e;
        }
        function check(errno, what, path) {
                if (errno !== 0) fail(errno, what, path);
        }
        function u32(offset) {
                return view.getUint32(offset, true);
        }
        function u64(offset) {
                return Number(view.getBigUint64(offset, true));
        }

        const doors = [];
        for (let fd = 3; wasi("fd_prestat_get", fd, base) === 0; fd++) {
                const n = u32(4);
                if (view.getUint8(0) === 0 && wasi("fd_prestat_dir_name", fd, base + PATH, n) === 0)
                        doors.push({ fd, name: get(base + PATH, n) });
        }
        doors.sort((a, b) => b.name.length - a.name.length);

        /* The door that leads to a path, and the rest of the path, which is put at an offset. */
        function find(path, offset, what) {
                path = String(path);
                const full = path.startsWith("/") ? path : "/" + path;
                for (const d of doors) {
                        const name = d.name === "/" ? "" : d.name;
                        if (full !== name && !full.startsWith(name + "/")) continue;
                        const rest = full.slice(name.length).replace(/^[/]+/, "") || ".";
                        const n = put(rest, base + offset, SECOND - PATH);
                        if (n > SECOND - PATH) fail(37, what, path);
                        return [d.fd, base + offset, n];
                }
                const e = new Error("ENOENT: no door covers this path, " + what + " '" + path + "' (cordon run --read PATH or --write PATH)");
                e.code = "ENOENT";
                throw e;
        }

        const READ = 2 + 4 + 32 + 16384 + 2097152, WRITE = 64 + 4 + 32 + 2097152 + 4194304;
        function open(path, oflags, rights, fdflags, what) {
                const [dir, name, n] = find(path, PATH, what);
                check(wasi("path_open", dir, 1, name, n, oflags, rights, 0, fdflags, base), what, path);
                return u32(0);
        }
        function close(fd) {
                wasi("fd_close", fd);
        }
        function readSome(fd, path) {
                view.setUint32(0, base + DATA, true);
                view.setUint32(4, SIZE - DATA, true);
                check(wasi("fd_read", fd, base, 1, base + 16), "read", path);
                return u32(16);
        }
        function readAll(fd, path) {
                const parts = [];
                let total = 0;
                for (let n; (n = readSome(fd, path)) > 0; total += n) parts.push(room.slice(DATA, DATA + n));
                const all = new Uint8Array(total);
                let to = 0;
                for (const p of parts) {
                        all.set(p, to);
                        to += p.length;
                }
                return all;
        }
        function writeAt(fd, address, n, path) {
                for (let done; n > 0; address += done, n -= done) {
                        view.setUint32(0, address, true);
                        view.setUint32(4, n, true);
                        check(wasi("fd_write", fd, base, 1, base + 16), "write", path);
                        done = u32(16);
                }
        }
        function writeAll(fd, data, path) {
                if (ArrayBuffer.isView(data)) return writeAt(fd, at(data.buffer) + data.byteOffset, data.byteLength, path);
                if (data instanceof ArrayBuffer) return writeAt(fd, at(data), data.byteLength, path);
                const n = put(String(data), base + DATA, SIZE - DATA);
                if (n <= SIZE - DATA) return writeAt(fd, base + DATA, n, path);
                const bytes = encode(data);
                writeAt(fd, at(bytes.buffer), n, path);
        }
        function encode(text) {
                text = String(text);
                const bytes = new Uint8Array(put(text, base + DATA, SIZE - DATA));
                if (bytes.length <= SIZE - DATA) bytes.set(room.subarray(DATA, DATA + bytes.length));
                else put(text, at(bytes.buffer), bytes.length);
                return bytes;
        }
        function decode(bytes) {
                if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
                if (bytes.byteLength === 0) return "";
                return get(at(bytes.buffer) + bytes.byteOffset, bytes.byteLength);
        }
        globalThis.TextEncoder = class TextEncoder {
                get encoding() { return "utf-8"; }
                encode(text = "") { return encode(text); }
                encodeInto(text, to) {
                        let read = 0, written = 0;
                        for (const c of String(text).toWellFormed()) {
                                const bytes = encode(c);
                                if (written + bytes.length > to.length) break;
                                to.set(bytes, written);
                                written += bytes.length;
                                read += c.length;
                        }
                        return { read, written };
                }
        };
        globalThis.TextDecoder = class TextDecoder {
                constructor(label = "utf-8") {
                        if (!/^utf-?8$/i.test(label)) throw new RangeError("the only encoding is utf-8");
                }
                get encoding() { return "utf-8"; }
                decode(bytes = new Uint8Array(0)) { return decode(bytes); }
        };

        function encodingOf(o) {
                return typeof o === "string" ? o : o?.encoding;
        }
        function textOr(bytes, o) {
                return encodingOf(o) ? decode(bytes) : bytes;
        }
        function write(path, data, oflags, fdflags) {
                const fd = open(path, oflags, WRITE, fdflags, "open");
                try {
                        writeAll(fd, data, path);
                } finally {
                        close(fd);
                }
        }
        function stat(path, what = "stat") {
                const [dir, name, n] = find(path, PATH, what);
                check(wasi("path_filestat_get", dir, what === "lstat" ? 0 : 1, name, n, base), what, path);
                const type = view.getUint8(16);
                return {
                        size: u64(32), mtimeMs: u64(48) / 1e6, mtime: new Date(u64(48) / 1e6), nlink: u64(24), ino: u64(8),
                        isFile: () => type === 4, isDirectory: () => type === 3, isSymbolicLink: () => type === 7
                };
        }
        function list(path) {
                const fd = open(path, 2, READ, 0, "scandir"), found = [];
                try {
                        for (let cookie = 0; ;) {
                                check(wasi("fd_readdir", fd, base + DATA, SIZE - DATA, cookie, base), "scandir", path);
                                const n = u32(0);
                                let p = DATA, seen = 0;
                                while (p + 24 <= DATA + n && p + 24 + u32(p + 16) <= DATA + n) {
                                        const name = get(base + p + 24, u32(p + 16));
                                        if (name !== "." && name !== "..") found.push(name);
                                        cookie = u64(p);
                                        p += 24 + u32(p + 16);
                                        seen++;
                                }
                                if (n < SIZE - DATA || seen === 0) return found.sort();
                        }
                } finally {
                        close(fd);
                }
        }
        function change(call, what, path) {
                const [dir, name, n] = find(path, PATH, what);
                check(wasi(call, dir, name, n), what, path);
        }
        const fs = {
                readFileSync(path, o) {
                        const fd = path === 0 || path === "/dev/stdin" ? 0 : open(path, 0, READ, 0, "open");
                        try {
                                return textOr(readAll(fd, path), o);
                        } finally {
                                if (fd) close(fd);
                        }
                },
                writeFileSync(path, data) { write(path, data, 1 + 8, 0); },
                appendFileSync(path, data) { write(path, data, 1, 1); },
                existsSync(path) {
                        try {
                                stat(path);
                                return true;
                        } catch {
                                return false;
                        }
                },
                statSync: (path) => stat(path),
                lstatSync: (path) => stat(path, "lstat"),
                readdirSync: list,
                mkdirSync(path, o) {
                        if (o?.recursive) {
                                const parts = String(path).split("/");
                                for (let i = 1; i < parts.length; i++) {
                                        const up = parts.slice(0, i).join("/");
                                        if (up && !fs.existsSync(up)) change("path_create_directory", "mkdir", up);
                                }
                                if (fs.existsSync(path)) return;
                        }
                        change("path_create_directory", "mkdir", path);
                },
                unlinkSync(path) { change("path_unlink_file", "unlink", path); },
                rmdirSync(path) { change("path_remove_directory", "rmdir", path); },
                rmSync(path, o) {
                        if (o?.force && !fs.existsSync(path)) return;
                        if (!stat(path, "lstat").isDirectory()) return fs.unlinkSync(path);
                        if (o?.recursive) for (const x of list(path)) fs.rmSync(path + "/" + x, o);
                        fs.rmdirSync(path);
                },
                renameSync(from, to) {
                        const [a, name, n] = find(from, PATH, "rename"), [b, other, k] = find(to, SECOND, "rename");
                        check(wasi("path_rename", a, name, n, b, other, k), "rename", from);
                },
                copyFileSync(from, to) { fs.writeFileSync(to, fs.readFileSync(from)); }
        };
        fs.promises = {};
        for (const name of Object.keys(fs))
                if (name.endsWith("Sync"))
                        fs.promises[name.slice(0, -4)] = async (...a) => fs[name](...a);

        // As node prints, for what scripts print most.
        const custom = Symbol.for("nodejs.util.inspect.custom");
        function quote(s) {
                return "'" + JSON.stringify(s).slice(1, -1).replaceAll("\\\"", "\"").replaceAll("'", "\\'") + "'";
        }
        function key(k) {
                return typeof k === "symbol" ? "[" + String(k) + "]" : /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(k) ? k : quote(k);
        }
        function errorText(e) {
                const stack = e.stack ? "\n" + String(e.stack).trimEnd() : "";
                return String(e) + stack;
        }
        function wrap(open, parts, close) {
                if (parts.length === 0) return open + close;
                const line = open + " " + parts.join(", ") + " " + close;
                return line.length <= 72 && !line.includes("\n") ? line
                        : open + "\n  " + parts.map((p) => p.replaceAll("\n", "\n  ")).join(",\n  ") + "\n" + close;
        }
        function inspect(v, depth = 2, seen = []) {
                if (typeof v === "string") return quote(v);
                if (typeof v === "bigint") return v + "n";
                if (Object.is(v, -0)) return "-0";
                if (typeof v === "function") return v.name ? "[Function: " + v.name + "]" : "[Function (anonymous)]";
                if (typeof v !== "object" || v === null) return String(v);
                if (typeof v[custom] === "function") return v[custom](depth);
                if (v instanceof Error) return errorText(v);
                if (v instanceof Date) return isNaN(v) ? "Invalid Date" : v.toISOString();
                if (v instanceof RegExp) return String(v);
                if (v instanceof Promise) return "Promise {}";
                if (seen.includes(v)) return "[Circular]";
                const under = (x) => inspect(x, depth - 1, seen.concat([v]));
                const name = Object.getPrototypeOf(v) === null ? "[Object: null prototype]" : v.constructor?.name ?? "Object";
                if (depth < 0 && Reflect.ownKeys(v).length > (Array.isArray(v) ? 1 : 0)) return Array.isArray(v) ? "[Array]" : "[" + name + "]";
                if (Array.isArray(v) || ArrayBuffer.isView(v)) {
                        const all = Array.from(v.length === undefined ? [] : v), parts = all.slice(0, 100).map(under);
                        if (all.length > 100) parts.push("... " + (all.length - 100) + " more items");
                        return (Array.isArray(v) ? "" : name + "(" + all.length + ") ") + wrap("[", parts, "]");
                }
                if (v instanceof Map)
                        return "Map(" + v.size + ") " + wrap("{", Array.from(v, ([k, x]) => under(k) + " => " + under(x)), "}");
                if (v instanceof Set) return "Set(" + v.size + ") " + wrap("{", Array.from(v, under), "}");
                const parts = Reflect.ownKeys(v).filter((k) => Object.prototype.propertyIsEnumerable.call(v, k))
                        .map((k) => key(k) + ": " + under(v[k]));
                return (name === "Object" ? "" : name + " ") + wrap("{", parts, "}");
        }
        function format(args) {
                let out = "";
                if (typeof args[0] === "string" && args.length > 1) {
                        const rest = args.slice(1);
                        out = args[0].replace(/%[sdifjoO%]/g, (m) => {
                                if (m === "%%") return "%";
                                if (rest.length === 0) return m;
                                const v = rest.shift();
                                return m === "%s" ? (typeof v === "object" && v !== null ? inspect(v, 0) : String(v))
                                        : m === "%d" ? String(Number(v)) : m === "%i" ? String(parseInt(v)) : m === "%f" ? String(parseFloat(v))
                                        : m === "%j" ? JSON.stringify(v) : inspect(v);
                        });
                        args = rest;
                        if (args.length) out += " ";
                }
                return out + args.map((v) => (typeof v === "string" ? v : inspect(v))).join(" ");
        }

        let indent = "";
        const print = (fd) => (...args) => {
                const text = format(args);
                writeAll(fd, (indent ? indent + text.replaceAll("\n", "\n" + indent) : text) + "\n");
        };
        const group = (...args) => {
                if (args.length) print(1)(...args);
                indent += "  ";
        };
        const spent = (k) => (performance.now() - (times.get(k) ?? NaN)).toFixed(3) + "ms";
        const counts = new Map(), times = new Map();
        globalThis.console = {
                log: print(1), info: print(1), debug: print(1), error: print(2), warn: print(2), trace: print(2),
                dir: (v) => print(1)(v), table: (...a) => found().table(...a),
                group, groupCollapsed: group, groupEnd: () => { indent = indent.slice(2); },
                assert(ok, ...args) { if (!ok) print(2)("Assertion failed" + (args.length ? ":" : ""), ...args); },
                count(k = "default") {
                        counts.set(k, (counts.get(k) ?? 0) + 1);
                        print(1)(k + ": " + counts.get(k));
                },
                countReset(k = "default") { counts.delete(k); },
                time(k = "default") { times.set(k, performance.now()); },
                timeLog(k = "default", ...args) { print(1)(k + ": " + spent(k), ...args); },
                timeEnd(k = "default") {
                        print(1)(k + ": " + spent(k));
                        times.delete(k);
                }
        };
        globalThis.print = globalThis.console.log;
        globalThis.global = globalThis;

        function strings(sizes, values) {
                if (wasi(sizes, base, base + 4) !== 0) return [];
                const n = u32(0), bytes = new Uint8Array(4 * n + u32(4)), start = at(bytes.buffer);
                check(wasi(values, start, start + 4 * n), values);
                return decode(bytes.subarray(4 * n)).split("\0").slice(0, n);
        }
        const args = []; /* of the run, which begins later */
        const atExit = [];
        const leave = () => atExit.splice(0).forEach((f) => f(process.exitCode ?? 0));
        const process = {
                argv: ["js"],
                env: Object.fromEntries(strings("environ_sizes_get", "environ_get").map((s) => {
                        const i = s.indexOf("=");
                        return [s.slice(0, i), s.slice(i + 1)];
                })),
                exitCode: undefined,
                exit(code = process.exitCode ?? 0) {
                        process.exitCode = code;
                        leave();
                        wasi("proc_exit", process.exitCode & 255);
                },
                on(event, f) {
                        if (event === "exit") atExit.push(f);
                        return process;
                },
                cwd: () => "/",
                platform: "wasi",
                stdout: { write(s) { writeAll(1, s); return true; } },
                stderr: { write(s) { writeAll(2, s); return true; } },
                hrtime: { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
                nextTick: (f, ...a) => void Promise.resolve().then(() => f(...a))
        };
        Object.defineProperty(process, "stdin", {
                get() { throw new Error("process.stdin is not there: fs.readFileSync(0, 'utf8') reads standard input"); }
        });
        globalThis.process = process;
        globalThis.scriptArgs = args;
        globalThis.fetch = async function fetch() {
                throw new TypeError("fetch: no network door leads through the wasm wall; use --wall namespace with --net");
        };

        let timers = [], nextId = 1;
        function start(f, ms, again, a) {
                const every = Math.max(1, Number(ms) || 0);
                timers.push({ id: nextId, at: performance.now() + every, every: again ? every : 0, f, a, waited: again !== undefined });
                return nextId++;
        }
        globalThis.setTimeout = (f, ms, ...a) => start(f, ms, false, a);
        globalThis.setInterval = (f, ms, ...a) => start(f, ms, true, a);
        globalThis.setImmediate = (f, ...a) => start(f, 0, false, a);
        globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = (id) => {
                timers = timers.filter((t) => t.id !== id);
        };
        globalThis.queueMicrotask ??= (f) => void Promise.resolve().then(f);
        function sleep(ms) {
                room.fill(0, 0, 48);
                view.setUint32(16, 1, true);
                view.setBigUint64(24, BigInt(Math.ceil(ms * 1e6)), true);
                check(wasi("poll_oneoff", base, base + PATH, 1, base + 64), "sleep");
        }
        function tick() {
                if (!timers.some((t) => t.waited)) return 0;
                timers.sort((a, b) => a.at - b.at || a.id - b.id);
                const t = timers[0], left = t.at - performance.now();
                if (left > 0) sleep(left);
                if (t.every) t.at += t.every;
                else timers.shift();
                try {
                        t.f(...t.a);
                } catch (e) {
                        uncaught.push(e);
                        timers = [];
                }
                return 1;
        }

        // The names of web.js, which is read when one of them is first used: most scripts use none.
        let all;
        const found = () => (all ??= (0, eval)(web())({
                fill: (a) => (check(wasi("random_get", at(a.buffer) + a.byteOffset, a.byteLength), "random"), a),
                inspect, print: print(1), custom, later: (f, ms) => start(f, ms, undefined, [])
        }));
        for (const name of ["URL", "URLSearchParams", "structuredClone", "Event", "EventTarget", "AbortSignal", "AbortController", "crypto"]) {
                const set = (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
                Object.defineProperty(globalThis, name, { get: () => (set(found()[name]), found()[name]), set, configurable: true, enumerable: false });
        }

        globalThis.host = {};
        names.split(" ").filter(Boolean).forEach((name, i) => {
                globalThis.host[name] = (...a) => call(i, ...a.map(Number));
        });

        const path = {
                sep: "/",
                normalize(p) {
                        const parts = [];
                        for (const x of p.split("/"))
                                if (x === ".." && parts.length && parts.at(-1) !== "..") parts.pop();
                                else if (x && x !== "." && (x !== ".." || !p.startsWith("/"))) parts.push(x);
                        return (p.startsWith("/") ? "/" : "") + parts.join("/") || ".";
                },
                join: (...p) => path.normalize(p.filter(Boolean).join("/") || "."),
                resolve: (...p) => path.normalize("/" + p.slice(p.findLastIndex((x) => x.startsWith("/")) < 0 ? 0 : p.findLastIndex((x) => x.startsWith("/"))).join("/")),
                basename(p, end = "") {
                        const name = p.replace(/[/]+$/, "").split("/").at(-1);
                        return end && name.endsWith(end) && name !== end ? name.slice(0, -end.length) : name;
                },
                dirname: (p) => (p.includes("/") ? p.replace(/[/]+[^/]*[/]*$/, "") || "/" : "."),
                extname: (p) => /.([.][^./]*)$/.exec(path.basename(p))?.[1] ?? "",
                isAbsolute: (p) => p.startsWith("/")
        };
        const modules = { fs, path, process, "fs/promises": fs.promises };
        const ofNode = new Set(("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events http http2 https " +
                "inspector module net os perf_hooks punycode querystring readline repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm " +
                "wasi worker_threads zlib").split(" "));
        const own = (name) => {
                const short = name.startsWith("node:") ? name.slice(5) : name;
                return Object.hasOwn(modules, short) ? short : undefined;
        };
        function join(from, name) {
                const parts = name.startsWith("/") ? [] : from.split("/").slice(0, -1);
                for (const p of name.split("/"))
                        if (p === ".." && parts.length && parts.at(-1) !== "..") parts.pop();
                        else if (p !== ".") parts.push(p);
                return parts.join("/");
        }
        function normalize(from, name) {
                if (own(name)) return "node:" + own(name);
                if (/^[.]{0,2}[/]/.test(name)) return join(from, name);
                const e = new Error(name.startsWith("node:") || ofNode.has(name.split("/")[0])
                        ? name + " is a module of node, and this is not node: behind the wasm wall there are fs, path and process (--wall namespace -- node runs the others)"
                        : "Cannot find package '" + name + "': no packages are looked for here, only files by their paths ('./" + name + ".js'); a bundler (esbuild --bundle) makes one file of a script and its packages");
                e.code = "MODULE_NOT_FOUND";
                throw e;
        }
        const shared = Symbol.for("cordon.modules");
        Object.defineProperty(globalThis, shared, { value: modules });
        function load(name) {
                const short = name.startsWith("node:") ? own(name) : undefined;
                if (!short) return fs.readFileSync(name, "utf8");
                const m = "globalThis[Symbol.for('cordon.modules')]['" + short + "']";
                return "const m = " + m + "; export default m; export const {" + Object.keys(modules[short]).join(",") + "} = m;";
        }
        const loaded = new Map();
        const requireFrom = (from) => Object.assign((name) => {
                const id = normalize(from, name);
                if (id.startsWith("node:")) return modules[own(id)];
                const file = [id, id + ".js", id + ".json", id + "/index.js"].find((f) => fs.existsSync(f) && stat(f).isFile()) ?? id;
                if (loaded.has(file)) return loaded.get(file).exports;
                const module = { exports: {} }, text = fs.readFileSync(file, "utf8");
                loaded.set(file, module);
                if (file.endsWith(".json")) module.exports = JSON.parse(text);
                else new Function("exports", "require", "module", "__filename", "__dirname", text + "\n//# " + file)(module.exports, requireFrom(file), module, file, path.dirname(file));
                return module.exports;
        }, { main: globalThis.module });

        const unhandled = new Map(), uncaught = [];
        function report(e) {
                return "Uncaught " + (e instanceof Error ? errorText(e) : inspect(e)) + "\n";
        }
        return {
                normalize, load, tick, report,
                begin(name) {
                        for (const a of strings("args_sizes_get", "args_get")) {
                                args.push(a);
                                process.argv.push(a);
                        }
                        globalThis.module = { exports: {} };
                        globalThis.require = requireFrom(name);
                        globalThis.__filename = path.resolve(name);
                        globalThis.__dirname = path.dirname(globalThis.__filename);
                        globalThis.exports = globalThis.module.exports;
                },
                rejected(promise, reason, handled) {
                        if (handled) unhandled.delete(promise);
                        else unhandled.set(promise, reason);
                },
                entry(name) {
                        const f = globalThis.module?.exports?.[name] ?? globalThis[name];
                        if (typeof f !== "function") throw new TypeError("the script has no function '" + name + "', of its own, exported or in module.exports");
                        const r = f(...args.slice(1).map(Number));
                        return r === undefined ? "" : (typeof r === "string" ? r : inspect(r)) + "\n";
                },
                last() {
                        try {
                                leave();
                        } catch (e) {
                                uncaught.push(e);
                        }
                        return [...uncaught, ...unhandled.values()].map(report).join("");
                },
                status() { return (process.exitCode ?? 0) & 255; }
        };
})
