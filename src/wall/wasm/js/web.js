/* SPDX-License-Identifier: MIT */
/* wasm/js/web.js - what scripts find of the web's names: URL, structuredClone, AbortController, crypto, and console.table.
 * prelude.js reads it when one of them is first used. */
(function (given) {
        "use strict";
        const { fill, inspect, print, custom, later } = given;
        const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
        const fragment = /[^\x21-\x7e]|["<>`]/gu, query = /[^\x21-\x7e]|["#<>]/gu, queryOfSpecial = /[^\x21-\x7e]|["#<>']/gu;
        const inPath = /[^\x21-\x7e]|["#<>?^`{}]/gu, inUser = /[^\x21-\x7e]|["#<>?^`{}/:;=@[\\\]|]/gu, inOpaque = /[^\x20-\x7e]/gu;
        const hex = (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
        const encode = (s, set) => s.toWellFormed().replace(set, (c) => (c < "\x80" ? hex(c) : encodeURIComponent(c)));
        function decode(s) {
                try {
                        return decodeURIComponent(s);
                } catch {
                        return s.replace(/(%[0-9a-f]{2})+/gi, (x) => new TextDecoder().decode(new Uint8Array(x.slice(1).split("%").map((d) => parseInt(d, 16)))));
                }
        }
        function invalid(url) {
                const e = new TypeError("Invalid URL");
                e.code = "ERR_INVALID_URL";
                e.input = url;
                throw e;
        }

        /* "127.1", "0x7f.1": the last part fills what is left. Undefined: this is a name. */
        function ipv4(host) {
                const parts = host.replace(/[.]$/, "").split(".");
                if (!/^([0-9]+|0x[0-9a-f]*)$/.test(parts.at(-1))) return undefined;
                const n = parts.map((p) => (/^0x[0-9a-f]*$/.test(p) ? parseInt(p.slice(2) || "0", 16) : /^0[0-7]+$/.test(p) ? parseInt(p, 8) : /^[0-9]+$/.test(p) ? +p : NaN));
                const last = n.pop(), all = n.reduce((sum, x, i) => sum + x * 256 ** (3 - i), last);
                if (n.length > 3 || n.some((x) => !(x <= 255)) || !(last < 256 ** (4 - n.length))) invalid(host);
                return [24, 16, 8, 0].map((shift) => Math.floor(all / 2 ** shift) % 256).join(".");
        }
        function ipv6(text) {
                const dotted = text.replace(/:(\d+)[.](\d+)[.](\d+)[.](\d+)$/, (_, ...d) => ":" + (d[0] * 256 + +d[1]).toString(16) + ":" + (d[2] * 256 + +d[3]).toString(16));
                const [before, after] = dotted.split("::").map((s) => (s ? s.split(":") : []));
                const missing = 8 - before.length - (after?.length ?? 0), all = after ? [...before, ...Array(Math.max(missing, 0)).fill("0"), ...after] : before;
                if (dotted.split("::").length > 2 || (after && missing < 1) || all.length !== 8 || !all.every((g) => /^[0-9a-f]{1,4}$/i.test(g))) invalid(text);
                const short = ":" + all.map((g) => parseInt(g, 16).toString(16)).join(":") + ":";
                const zeros = (short.match(/:(?:0:){2,}/g) ?? []).sort((a, b) => b.length - a.length)[0];
                return "[" + (zeros ? short.replace(zeros, "::") : short).replace(/^:(?!:)/, "").replace(/([^:]):$/, "$1") + "]";
        }
        function hostOf(text, special, url) {
                if (text.startsWith("[")) return text.endsWith("]") ? ipv6(text.slice(1, -1)) : invalid(url);
                if (!special) return /[\0\t\n\r #/<>?@[\\\]^|]/.test(text) ? invalid(url) : encode(text, inOpaque);
                const host = decode(text).toLowerCase();
                if (/[^\0-\x7f]/.test(host)) throw new TypeError("Invalid URL: a host name beyond ASCII is written as xn--... here");
                if (host === "" || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host)) invalid(url);
                return ipv4(host) ?? host;
        }
        function pathOf(text, special, from = []) {
                const parts = [...from], all = (special ? text.replaceAll("\\", "/") : text).split("/");
                all.forEach((p, i) => {
                        const dots = p.replace(/%2e/gi, "."), last = i === all.length - 1;
                        if (dots === "..") parts.pop();
                        if (dots === ".." || dots === ".") last && parts.push("");
                        else parts.push(encode(p, inPath));
                });
                return "/" + parts.join("/");
        }
        const isOpaque = (u) => !u.pathname.startsWith("/") && !u.hasHost;
        function authority(u, text, special, url) {
                const at = text.lastIndexOf("@"), user = at < 0 ? "" : text.slice(0, at), colon = user.indexOf(":");
                const m = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(text.slice(at + 1));
                if (!m || +(m[2] || 0) > 65535) invalid(url);
                u.username = encode(colon < 0 ? user : user.slice(0, colon), inUser);
                u.password = colon < 0 ? "" : encode(user.slice(colon + 1), inUser);
                u.hostname = u.protocol === "file:" && /^(localhost)?$/i.test(m[1]) ? "" : !special && m[1] === "" ? "" : hostOf(m[1], special, url);
                u.port = m[2] && String(+m[2]) !== ports[u.protocol] ? String(+m[2]) : "";
                u.hasHost = true;
        }
        function parse(url, base) {
                const text = url.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
                let [, scheme, rest, search, hash] = /^(?:([a-z][a-z0-9+.-]*):)?([^?#]*)([?][^#]*)?(#.*)?$/is.exec(text);
                const u = { protocol: (scheme ? scheme + ":" : base?.protocol ?? invalid(url)).toLowerCase(), username: "", password: "", hostname: "", port: "", pathname: "", search: "", hash: "", hasHost: false };
                const special = Object.hasOwn(ports, u.protocol);
                if (special) rest = rest.replaceAll("\\", "/");
                const relative = base && (!scheme || (special && u.protocol === base.protocol && !rest.startsWith("/")));
                const take = (names) => names.split(" ").forEach((n) => (u[n] = base[n]));
                if (relative && isOpaque(base) && (rest !== "" || search)) invalid(url);
                if (rest.startsWith("//") || (special && !relative && u.protocol !== "file:")) {
                        const [, host, path] = (special && u.protocol !== "file:" ? /^[/]*([^/]*)(.*)$/s : /^[/]{2}([^/]*)(.*)$/s).exec(rest);
                        authority(u, host, special, url);
                        u.pathname = path === "" && !special ? "" : pathOf(path.slice(1), special);
                } else if (relative) {
                        take("username password hostname port hasHost");
                        if (rest === "") take("pathname");
                        else u.pathname = pathOf(rest.replace(/^[/]/, ""), special, rest.startsWith("/") ? [] : base.pathname.split("/").slice(1, -1));
                        if (rest === "" && search === undefined) take("search");
                } else if (special || rest.startsWith("/")) {
                        u.hasHost = special;
                        u.pathname = pathOf(rest.replace(/^[/]/, ""), special);
                } else {
                        u.pathname = encode(rest, inOpaque);
                }
                if (search !== undefined) u.search = search === "?" ? "" : encode(search, special ? queryOfSpecial : query);
                if (hash !== undefined) u.hash = hash === "#" ? "" : encode(hash, fragment);
                return u;
        }

        const form = (s) => encodeURIComponent(s.toWellFormed()).replace(/[!'()~]/g, hex).replaceAll("%20", "+");
        const pairsOf = (s) => s.replace(/^[?]/, "").split("&").filter(Boolean).map((p) => {
                const i = p.indexOf("="), [k, v] = i < 0 ? [p, ""] : [p.slice(0, i), p.slice(i + 1)];
                return [decode(k.replaceAll("+", " ")), decode(v.replaceAll("+", " "))];
        });
        class URLSearchParams {
                #all = [];
                #changed = () => {};
                constructor(from = "") {
                        if (typeof from === "object" && from !== null)
                                this.#all = (from[Symbol.iterator] ? [...from] : Object.entries(from)).map(([k, v]) => [String(k), String(v)]);
                        else this.#all = pairsOf(String(from));
                }
                static of(url, read, write) {
                        const p = new URLSearchParams(read());
                        p.#changed = () => write(p.toString());
                        return [p, () => (p.#all = pairsOf(read()))];
                }
                get size() { return this.#all.length; }
                get(k) { return this.#all.find((p) => p[0] === String(k))?.[1] ?? null; }
                getAll(k) { return this.#all.filter((p) => p[0] === String(k)).map((p) => p[1]); }
                has(k, v) { return this.#all.some((p) => p[0] === String(k) && (v === undefined || p[1] === String(v))); }
                append(k, v) { this.#all.push([String(k), String(v)]); this.#changed(); }
                delete(k, v) { this.#all = this.#all.filter((p) => p[0] !== String(k) || (v !== undefined && p[1] !== String(v))); this.#changed(); }
                set(k, v) {
                        const i = this.#all.findIndex((p) => p[0] === String(k));
                        if (i < 0) return this.append(k, v);
                        this.#all[i][1] = String(v);
                        this.#all = this.#all.filter((p, at) => at <= i || p[0] !== String(k));
                        this.#changed();
                }
                sort() { this.#all.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#changed(); }
                toString() { return this.#all.map(([k, v]) => form(k) + "=" + form(v)).join("&"); }
                forEach(f, self) { for (const [k, v] of this.#all) f.call(self, v, k, this); }
                *entries() { for (const p of this.#all) yield [...p]; }
                *keys() { for (const p of this.#all) yield p[0]; }
                *values() { for (const p of this.#all) yield p[1]; }
                [Symbol.iterator]() { return this.entries(); }
                [custom]() { return "URLSearchParams {" + (this.#all.length ? " " + this.#all.map(([k, v]) => inspect(k) + " => " + inspect(v)).join(", ") + " " : "") + "}"; }
        }
        const shown = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"];
        class URL {
                #u;
                #params;
                #again;
                constructor(url, base) {
                        this.#u = parse(String(url), base === undefined ? undefined : new URL(base).#u);
                        [this.#params, this.#again] = URLSearchParams.of(this, () => this.#u.search, (s) => (this.#u.search = s && "?" + s));
                }
                static canParse(url, base) { return URL.parse(url, base) !== null; }
                static parse(url, base) {
                        try {
                                return new URL(url, base);
                        } catch {
                                return null;
                        }
                }
                get href() {
                        const u = this.#u, user = u.username || u.password ? u.username + (u.password && ":" + u.password) + "@" : "";
                        return u.protocol + (u.hasHost ? "//" + user + this.host : u.pathname.startsWith("//") ? "/." : "") + u.pathname + u.search + u.hash;
                }
                set href(s) { this.#u = parse(String(s)); this.#again(); }
                get origin() { return this.protocol !== "file:" && Object.hasOwn(ports, this.protocol) ? this.protocol + "//" + this.host : "null"; }
                get protocol() { return this.#u.protocol; }
                set protocol(s) {
                        const to = String(s).replace(/:.*$/s, "").toLowerCase() + ":";
                        if (Object.hasOwn(ports, to) !== Object.hasOwn(ports, this.protocol) || !/^[a-z][a-z0-9+.-]*:$/.test(to)) return;
                        this.#u.protocol = to;
                        if (this.port === ports[to]) this.#u.port = "";
                }
                get username() { return this.#u.username; }
                set username(s) { if (this.hostname) this.#u.username = encode(String(s), inUser); }
                get password() { return this.#u.password; }
                set password(s) { if (this.hostname) this.#u.password = encode(String(s), inUser); }
                get host() { return this.hostname + (this.port && ":" + this.port); }
                set host(s) { this.#host(String(s), false); }
                get hostname() { return this.#u.hostname; }
                set hostname(s) { this.#host(String(s).replace(/:[0-9]*$/, ""), true); }
                get port() { return this.#u.port; }
                set port(s) {
                        const n = /^[0-9]*/.exec(String(s))[0];
                        if (this.hostname && (n !== "" || s === "") && +n < 65536) this.#u.port = n === "" || String(+n) === ports[this.protocol] ? "" : String(+n);
                }
                get pathname() { return this.#u.pathname; }
                set pathname(s) { if (!isOpaque(this.#u)) this.#u.pathname = pathOf(String(s).replace(/^[/]/, ""), Object.hasOwn(ports, this.protocol)); }
                get search() { return this.#u.search; }
                set search(s) {
                        const text = String(s).replace(/^[?]/, "");
                        this.#u.search = text && "?" + encode(text, Object.hasOwn(ports, this.protocol) ? queryOfSpecial : query);
                        this.#again();
                }
                get searchParams() { return this.#params; }
                get hash() { return this.#u.hash; }
                set hash(s) {
                        const text = String(s).replace(/^#/, "");
                        this.#u.hash = text && "#" + encode(text, fragment);
                }
                #host(s, keepPort) {
                        if (isOpaque(this.#u)) return;
                        const to = { protocol: this.protocol };
                        try {
                                authority(to, s.replace(/[/?#].*$/s, ""), Object.hasOwn(ports, this.protocol), s);
                        } catch {
                                return;
                        }
                        this.#u.hostname = to.hostname;
                        if (!keepPort && /:[0-9]+$/.test(s)) this.#u.port = to.port;
                }
                toString() { return this.href; }
                toJSON() { return this.href; }
                [custom](depth) { return "URL " + inspect(Object.fromEntries(shown.map((n) => [n, this[n]])), depth); }
        }

        function structuredClone(value, options) {
                const seen = new Map(), error = (v) => {
                        throw new DOMException((typeof v === "object" ? inspect(v, 0) : String(v)) + " could not be cloned.", "DataCloneError");
                };
                const known = (v, copy, fill) => {
                        seen.set(v, copy);
                        fill?.(copy);
                        return copy;
                };
                const members = (v) => (copy) => Object.keys(v).forEach((k) => (copy[k] = clone(v[k])));
                function clone(v) {
                        if (typeof v === "function" || typeof v === "symbol") error(v);
                        if (typeof v !== "object" || v === null) return v;
                        if (seen.has(v)) return seen.get(v);
                        if (v instanceof Date) return known(v, new Date(v));
                        if (v instanceof RegExp) return known(v, new RegExp(v.source, v.flags));
                        if (v instanceof ArrayBuffer) return known(v, options?.transfer?.includes(v) ? v.transfer() : v.slice(0));
                        if (ArrayBuffer.isView(v)) return known(v, new v.constructor(clone(v.buffer), v.byteOffset, v.length ?? v.byteLength));
                        if (v instanceof Map) return known(v, new Map(), (m) => v.forEach((x, k) => m.set(clone(k), clone(x))));
                        if (v instanceof Set) return known(v, new Set(), (s) => v.forEach((x) => s.add(clone(x))));
                        if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet || v instanceof WeakRef) error(v);
                        if (v instanceof Error)
                                return known(v, new ({ EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[v.name] ?? Error)(v.message), (e) => {
                                        Object.defineProperty(e, "stack", { value: v.stack, configurable: true, writable: true });
                                        if (Object.hasOwn(v, "cause")) Object.defineProperty(e, "cause", { value: clone(v.cause), configurable: true, writable: true });
                                });
                        if ([Number, String, Boolean, BigInt].some((x) => v instanceof x)) return known(v, Object(v.valueOf()));
                        return Array.isArray(v) ? known(v, new Array(v.length), members(v)) : known(v, {}, members(v));
                }
                return clone(value);
        }

        class Event {
                #stopped = false;
                constructor(type, o) {
                        Object.assign(this, { type: String(type), target: null, cancelable: !!o?.cancelable, defaultPrevented: false, timeStamp: performance.now() });
                }
                preventDefault() { this.defaultPrevented = this.cancelable; }
                stopImmediatePropagation() { this.#stopped = true; }
                stopPropagation() {}
                static goesOn(e) { return !e.#stopped; }
        }
        class EventTarget {
                #heard = [];
                addEventListener(type, f, o) {
                        if (!f || this.#heard.some((l) => l.type === type && l.f === f)) return;
                        this.#heard.push({ type, f, once: !!o?.once });
                        o?.signal?.addEventListener("abort", () => this.removeEventListener(type, f));
                }
                removeEventListener(type, f) { this.#heard = this.#heard.filter((l) => l.type !== type || l.f !== f); }
                dispatchEvent(e) {
                        e.target = this;
                        for (const l of this.#heard.filter((x) => x.type === e.type)) {
                                if (!Event.goesOn(e)) break;
                                if (l.once) this.removeEventListener(l.type, l.f);
                                typeof l.f === "function" ? l.f.call(this, e) : l.f.handleEvent(e);
                        }
                        return !e.defaultPrevented;
                }
        }
        class AbortSignal extends EventTarget {
                aborted = false;
                reason = undefined;
                onabort = null;
                static end(s, reason = new DOMException("This operation was aborted", "AbortError")) {
                        if (s.aborted) return s;
                        Object.assign(s, { aborted: true, reason });
                        const e = new Event("abort");
                        s.onabort?.(e);
                        s.dispatchEvent(e);
                        return s;
                }
                static abort(reason) { return AbortSignal.end(new AbortSignal(), reason); }
                static timeout(ms) {
                        const s = new AbortSignal();
                        later(() => AbortSignal.end(s, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
                        return s;
                }
                static any(all) {
                        const s = new AbortSignal();
                        for (const x of all) x.aborted ? AbortSignal.end(s, x.reason) : x.addEventListener("abort", () => AbortSignal.end(s, x.reason));
                        return s;
                }
                throwIfAborted() { if (this.aborted) throw this.reason; }
        }
        class AbortController {
                signal = new AbortSignal();
                abort(reason) { AbortSignal.end(this.signal, reason); }
        }

        const crypto = {
                getRandomValues(a) {
                        if (!ArrayBuffer.isView(a) || /Float|DataView/.test(a.constructor.name)) throw new DOMException("no array of whole numbers", "TypeMismatchError");
                        if (a.byteLength > 65536) throw new DOMException("more than 65536 bytes", "QuotaExceededError");
                        fill(a);
                        return a;
                },
                randomUUID() {
                        const b = fill(new Uint8Array(16));
                        b[6] = b[6] & 15 | 64;
                        b[8] = b[8] & 63 | 128;
                        return Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
                },
                get subtle() { throw new TypeError("crypto.subtle is not here, behind the wasm wall; --wall namespace -- node runs scripts that need it"); }
        };

        /* As node draws it, for arrays and objects of rows. */
        function table(data, only) {
                if (typeof data !== "object" || data === null) return print(data);
                const rows = Object.entries(data), isRow = (v) => typeof v === "object" && v !== null;
                const columns = only ?? [...new Set(rows.flatMap(([, v]) => (isRow(v) ? Object.keys(v) : [])))];
                const plain = rows.some(([, v]) => !isRow(v)), cell = (v) => inspect(v, 0);
                const lines = [["(index)", ...columns, ...(plain ? ["Values"] : [])],
                        ...rows.map(([k, v]) => [k, ...columns.map((c) => (isRow(v) && Object.hasOwn(v, c) ? cell(v[c]) : "")), ...(plain ? [isRow(v) ? "" : cell(v)] : [])])];
                const widths = lines[0].map((_, i) => Math.max(...lines.map((l) => l[i].length)) + 2), rule = (a, b, c) => a + widths.map((w) => "─".repeat(w)).join(b) + c;
                const [head, ...body] = lines.map((l) => "│" + l.map((x, i) => " " + x.padEnd(widths[i] - 1)).join("│") + "│");
                print([rule("┌", "┬", "┐"), head, rule("├", "┼", "┤"), ...body, rule("└", "┴", "┘")].join("\n"));
        }
        return { URL, URLSearchParams, structuredClone, Event, EventTarget, AbortSignal, AbortController, crypto, table };
})
