// story.js - one run from its records: what came in, what it did or tried, what led to what; its output; records; differences of files.
'use strict';

// ---- what the records say ----

const MOST = 14; // of each side in the picture; the records have all
const nameOf = x => x.target || x.door || x.kind, more = x => x.more || {};
const kindOf = x => x.phase === 'denied' ? 'deny' : x.kind === 'gate' ? 'ask' : '';
function subOf(x) {
  const n = x.bytes ? bytes(x.bytes) : '', times = x.count > 1 ? x.count + ' times' : '';
  const what = x.phase === 'denied' ? 'blocked' + (more(x).reason ? ': ' + more(x).reason : '') : x.kind === 'gate' ? (more(x).by ? x.result + ' by ' + more(x).by : x.result)
    : x.kind === 'output' ? 'printed' : x.result || x.kind;
  return [what, n, times].filter(Boolean).join(' · ');
}
// A question and its answer are one effect: the answer is shown.
function isEffect(x, all) {
  if (['start', 'end', 'view'].includes(x.kind) || x.phase === 'intent' || x.phase === 'denied' && more(x).minor) return false;
  if (x.kind !== 'gate') return x.phase !== 'claim';
  return x.phase === 'human' || x.phase === 'claim' && !all.some(y => y.kind === 'gate' && y.phase === 'human' && y.digest === x.digest);
}
function model(records) {
  const by = new Map(records.map(x => [x.id, x])), start = records.find(x => x.kind === 'start'), first = start ? start.target : '';
  const ins = records.filter(x => x.phase === 'claim' && x.kind !== 'gate').slice(0, MOST);
  const rank = x => x.phase === 'denied' ? 0 : x.kind === 'gate' ? 1 : x.kind === 'output' ? 3 : 2;
  const all = records.filter(x => isEffect(x, records)).sort((a, b) => rank(a) - rank(b) || a.time - b.time), outs = all.slice(0, MOST);
  const names = [...new Set([first, ...outs.map(x => more(x).program)].filter(Boolean))].slice(0, 6);
  const progs = names.map(name => ({ id: 'p:' + name, name, depth: name === first ? 0 : 1 }));
  const prog = x => 'p:' + (names.includes(more(x).program) ? more(x).program : names[0]);
  // What led to an effect, or what an input led to.
  function path(id) {
    const on = new Set([id]), x = by.get(id);
    const through = p => { on.add(p); on.add(progs[0].id); };
    if (!progs.length) return on;
    if (!x) for (const y of [...ins, ...outs]) { if (prog(y) === id) on.add(y.id); }
    else if (ins.includes(x)) for (const y of outs) { if ((y.parents || []).includes(id)) { on.add(y.id); through(prog(y)); } }
    else { through(prog(x)); for (const i of ins) if ((x.parents || []).includes(i.id)) on.add(i.id); }
    return on;
  }
  return { by, progs, ins, outs, rest: all.length - outs.length, path, prog };
}

// What an edit door held back is no record before it is applied, and an effect all the same.
function heldBack(r, records, change) {
  const flagged = change.entries.filter(f => f.flags.length).length, start = records.find(x => x.kind === 'start'), end = records.at(-1);
  return { id: 'held', kind: 'edit', phase: 'outcome', time: end.time, target: plural(change.entries.length, 'changed file'), result: 'held back for review' + (flagged ? ', ' + flagged + ' flagged' : ''), parents: [start?.id], more: {}, see: runHref(r.id) + '/changes' };
}

// ---- the picture ----

function story(r, records, change) {
  const m = model(change?.entries.length ? [...records, heldBack(r, records, change)] : records), marks = new Map(), detail = h('section.card', { 'aria-live': 'polite' }), pics = [];
  let chosen = (m.outs.find(x => x.phase === 'denied') || { id: '' }).id;
  if (!m.progs.length) return h('section.card', empty('No story yet', r.state === 'queued' ? 'It has not started.' : 'No record of this run is there.'));
  const mark = (id, e) => { marks.set(e, id.split(' > ')); return e; };
  const paint = id => {
    const on = id ? m.path(id) : new Set();
    for (const p of pics) p.classList.toggle('picked', id !== '');
    for (const [e, ids] of marks) {
      e.classList.toggle('on', ids.every(i => on.has(i)));
      if (e.hasAttribute('aria-pressed')) e.setAttribute('aria-pressed', String(ids[0] === chosen));
    }
  };
  const choose = id => { chosen = id === chosen ? '' : id; paint(chosen); tell(m, r, chosen, detail); };
  const press = id => ({ tabindex: 0, role: 'button', 'aria-pressed': 'false', click: () => choose(id), pointerenter: () => paint(id), pointerleave: () => paint(chosen),
    keydown: e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(id); } } });
  const node = (x, X, Y, W) => mark(x.id, s('g', { class: 'nd ' + kindOf(x), ...press(x.id) }, s('title', {}, nameOf(x) + ', ' + subOf(x)),
    s('rect', { x: X, y: Y, width: W, height: 44, rx: 6 }), s('text.m.what', { x: X + 12, y: Y + 18 }, middle(inert(nameOf(x)), Math.floor((W - 24) / 7))),
    s('text.sub', { x: X + 12, y: Y + 34 }, middle(subOf(x), Math.floor((W - 24) / 5.8)))));
  const gate = (x, X, Y) => mark(x.id, kindOf(x) === 'deny' ? s('rect.gate.deny', { x: X - 3, y: Y - 9, width: 6, height: 18, rx: 1 })
    : kindOf(x) === 'ask' ? s('path.gate.ask', { d: `M${X} ${Y - 7}l7 7-7 7-7-7z` }) : s('circle.gate', { cx: X, cy: Y, r: 4.5 }));
  const finish = (g, w, H) => {
    g.setAttribute('height', H);
    g.setAttribute('viewBox', `0 0 ${w} ${H}`);
    pics.push(g);
    queueMicrotask(() => paint(chosen));
    return g;
  };
  const picture = w => {
    const g = s('svg.pic', { width: w, role: 'group', 'aria-label': 'What came in, the box, and what it did' }), gap = 54;
    marks.clear();
    pics.length = 0;
    return w < 700 ? narrow(g, w, gap) : wide(g, w, gap);
  };
  // A phone: one below the other, the ways in the margin.
  const narrow = (g, w, gap) => {
    const X = 32, W = w - 33, at = new Map();
    let y = 20;
    g.append(s('text.hd', { x: X, y: 12 }, 'What came in'));
    for (const x of m.ins) { at.set(x, y + 22); g.append(node(x, X, y, W)); y += gap; }
    const box = y + 30;
    g.append(s('rect.frame', { x: X, y: y + 4, width: W, height: 52, rx: 8 }), s('text.hd', { x: X + 12, y: y + 24 }, 'The box: ' + r.policy),
      s('text.m', { x: X + 12, y: y + 44 }, middle(m.progs.map(p => inert(p.name)).join(', '), Math.floor(W / 7.5))), s('text.hd', { x: X, y: y + 76 }, 'What it did or tried'));
    y += 84;
    for (const x of m.outs) { at.set(x, y + 22); g.append(node(x, X, y, W)); y += gap; }
    for (const [x, v] of at) {
      const [from, to] = m.ins.includes(x) ? [v, box] : [box, v], deny = kindOf(x) === 'deny';
      g.prepend(mark(x.id, s('path', { class: 'ed ' + kindOf(x), d: `M${X} ${from}C4 ${from} 4 ${to} ${deny ? X - 8 : X} ${to}` })));
      if (deny) g.append(gate(x, X - 6, v));
    }
    return finish(g, w, y);
  };
  const wide = (g, w, gap) => {
    const wl = Math.min(280, w * 0.27), wr = Math.min(340, w * 0.31), bx = wl + 48, br = w - wr - 48, pw = 84;
    const H = Math.max(m.ins.length, m.outs.length, 3) * gap + 24, deep = m.progs.length > 1;
    const y = (list, i) => 24 + (H - 24 - list.length * gap) / 2 + i * gap + 22;
    const px = new Map(), py = new Map();
    for (const d of [0, 1]) m.progs.filter(p => p.depth === d).forEach((p, i, col) => {
      px.set(p.id, deep ? (d ? br - 28 - pw : bx + 28) : (bx + br - pw) / 2);
      py.set(p.id, 32 + (H - 44) * (i + 1) / (col.length + 1));
    });
    const bend = (ids, x1, y1, x2, y2, k = '', tail = '') => mark(ids, s('path', { class: 'ed ' + k, d: `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}` + tail }));
    g.append(s('rect.frame', { x: bx, y: 20, width: br - bx, height: H - 16, rx: 10 }), s('text.hd', { x: 0, y: 12 }, 'What came in'),
      s('text.hd', { x: bx, y: 12 }, 'The box: ' + r.policy), s('text.hd', { x: w - wr, y: 12 }, 'What it did or tried'));
    m.ins.forEach((x, i) => g.append(bend(x.id + ' > ' + m.prog(x), wl, y(m.ins, i), px.get(m.prog(x)), py.get(m.prog(x)))));
    for (const p of m.progs.slice(1)) g.append(bend(m.progs[0].id + ' > ' + p.id, px.get(m.progs[0].id) + pw, py.get(m.progs[0].id), px.get(p.id), py.get(p.id)));
    m.outs.forEach((x, i) => g.append(bend(m.prog(x) + ' > ' + x.id, px.get(m.prog(x)) + pw, py.get(m.prog(x)), br, y(m.outs, i), kindOf(x), kindOf(x) === 'deny' ? '' : `H${w - wr}`)));
    for (const p of m.progs) g.append(mark(p.id, s('g.nd', press(p.id), s('title', {}, 'program ' + p.name),
      s('rect', { x: px.get(p.id), y: py.get(p.id) - 14, width: pw, height: 28, rx: 14 }),
      s('text.m', { x: px.get(p.id) + pw / 2, y: py.get(p.id) + 4, 'text-anchor': 'middle' }, middle(inert(p.name), 11)))));
    m.ins.forEach((x, i) => g.append(node(x, 0.5, y(m.ins, i) - 22, wl - 1), gate(x, bx, y(m.ins, i))));
    m.outs.forEach((x, i) => g.append(node(x, w - wr, y(m.outs, i) - 22, wr - 1), gate(x, br, y(m.outs, i))));
    return finish(g, w, H + 8);
  };
  const sign = (w, height, e) => s('svg', { width: w, height, class: 'pic', 'aria-hidden': 'true' }, e);
  tell(m, r, chosen, detail);
  return [card('What led to what', h('div.legend.hide-s', h('span', sign(10, 10, s('circle.gate', { cx: 5, cy: 5, r: 4 })), 'an open door'),
    h('span', sign(12, 12, s('path.gate.ask', { d: 'M6 1l5 5-5 5-5-5z' })), 'a person was asked'), h('span', sign(6, 14, s('rect.gate.deny', { width: 6, height: 14, rx: 1 })), 'stopped at the wall')),
  h('div.in', sized(picture)), m.rest > 0 && h('p.in.small.soft', m.rest + ' more are among its records.')), detail, card('When', undefined, h('div.in', sized(w => timeline(m, r, choose, w))))];
}
// One effect in words.
function tell(m, r, id, detail) {
  const x = m.by.get(id), begin = m.by.values().next().value, since = y => '+' + dur((y.time - begin.time) / 1000);
  detail.hidden = !x;
  if (!x) return;
  const deny = x.phase === 'denied', shape = deny ? 'block' : x.result === 'pending' ? 'wait' : 'ok', program = more(x).program;
  const steps = (x.parents || []).map(i => m.by.get(i)).filter(y => y && y.kind !== 'start').slice(-8), blocked = (r.blocked || []).find(b => b.effect.includes(nameOf(x)));
  const permit = blocked?.permit || more(x).permit;
  detail.replaceChildren(h('header', st(shape), h('h2.wrap', deny && 'Blocked: ', nameOf(x))), h('div.in.grid',
    h('div.c7.stack', h('h3', 'How it came to this'), h('ol.chain', steps.map(y => h('li', h('div', h('code.wrap', nameOf(y)), h('div.small.soft', since(y) + ' · ' + subOf(y))))),
      h('li', { class: deny ? 'end' : '' }, h('div', program && [h('b', program), deny ? ' tried ' : ' did '], h('code.wrap', nameOf(x)),
        h('div', { class: 'small ' + (deny ? 'bad' : 'soft') }, since(x) + ' · ' + subOf(x)))))),
    h('div.c5.stack', deny ? [h('h3', 'The line that would open it'), permit ? copyable(permit) : h('p.soft', 'None is proposed.')]
      : x.door && [h('h3', 'Through the door'), h('code.wrap', x.door)], more(x).reason && !deny && h('p', 'Reason: ' + more(x).reason),
    x.see ? h('a', { href: x.see }, 'Review the changes') : h('a', { href: '#/ledger' + query({ run: r.id, record: x.id }) }, 'Its record'))));
}
// The line of time, one lane for each kind.
function timeline(m, r, choose, w) {
  const all = [...m.by.values()].filter(x => x.kind !== 'view'), from = all[0].time, end = Math.max(1000, all.at(-1).time - from);
  const left = w < 700 ? 60 : 84, X = t => left + 4 + (t - from) / end * (w - left - 16), H = 84 + 20, ticks = w < 700 ? 2 : 4;
  const g = s('svg.tl', { width: w, height: H, viewBox: `0 0 ${w} ${H}`, role: 'group', 'aria-label': 'Line of time, ' + dur(end / 1000) });
  for (let i = 0; i <= ticks; i++) {
    const x = X(from + end * i / ticks);
    g.append(s('line.ax', { x1: x, x2: x, y1: 4, y2: H - 20 }), s('text', { x, y: H - 4, 'text-anchor': i === ticks ? 'end' : i ? 'middle' : 'start' }, i ? dur(end * i / ticks / 1000) : '0'));
  }
  [['In', m.ins], ['Out', m.outs.filter(x => x.phase !== 'denied')], ['Blocked', m.outs.filter(x => x.phase === 'denied')]].forEach(([name, list], lane) => {
    const y = 18 + lane * 26;
    g.append(s('text', { x: 0, y: y + 4 }, name), s('line.ax', { x1: left, x2: w, y1: y + 13, y2: y + 13 }));
    for (const x of list) {
      const title = s('title', {}, nameOf(x)), click = () => choose(x.id);
      g.append(lane === 2 ? s('rect.ev.deny', { x: X(x.time) - 4, y: y - 7, width: 8, height: 14, rx: 1, click }, title)
        : s('circle', { class: 'ev ' + (lane ? 'out' : ''), cx: X(x.time), cy: y, r: 5, click }, title));
    }
  });
  return g;
}

// ---- events of the server, and output ----

// Reads events until the stream ends, or `on` says false.
async function events(path, on, signal) {
  const a = await request('GET', path, undefined, signal), reader = a.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = '', part; !(part = await reader.read()).done;) {
    text += part.value;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const name = /^event: (.*)$/m.exec(text.slice(0, end)), data = /^data: (.*)$/m.exec(text.slice(0, end));
      if (name && data && on(name[1], JSON.parse(data[1])) === false) { reader.cancel(); return; }
    }
  }
}
const LINES_MAX = 5000;
// A file for the person: what the browser keeps, as bytes.
async function keep(path, name) {
  const link = h('a', { href: URL.createObjectURL(await (await request('GET', path)).blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function output(r) {
  const body = h('div.out', { tabindex: 0, role: 'log', 'aria-label': 'Output', 'aria-live': 'off' }), count = h('span.small.soft'), live = r.state !== 'ended', stop = new AbortController();
  const open = {}, decode = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  let lines = 0, on = live;
  const show = e => e.replaceChildren(...inert(e.text).split(/(\\u\{[0-9a-f]+\})/).map(p => /^\\u\{/.test(p) ? h('span.made', p) : p));
  const line = stream => {
    const e = h(stream === 'stderr' ? 'div.err' : 'div');
    e.text = '';
    body.append(e);
    if (++lines > LINES_MAX) { body.firstChild.remove(); body.style.counterReset = 'l ' + (lines - LINES_MAX); }
    return e;
  };
  const put = (stream, text) => {
    text.split('\n').forEach((part, i, all) => {
      if (!open[stream] && (part || i < all.length - 1)) open[stream] = line(stream);
      if (part) { open[stream].text += part; show(open[stream]); }
      if (i < all.length - 1) open[stream] = undefined;
    });
    count.replaceChildren(plural(lines, 'line'));
    if (on) body.scrollTop = body.scrollHeight;
  };
  const rest = x => { // what the server no longer has as events
    const text = k => x.encoding === 'base64' ? decode[k].decode(Uint8Array.from(atob(x[k] || ''), c => c.charCodeAt(0))) : x[k] || '';
    if (!lines) for (const k of ['stdout', 'stderr']) put(k, text(k));
    if (!lines) body.append(h('p.empty', 'It printed nothing.'));
    if (x.truncated) body.append(h('p.empty', 'Here is the first of it. ', ['stdout', 'stderr'].filter(k => x[k + '_bytes'] > 0).map(k => [button('Get all of ' + k + ', ' + bytes(x[k + '_bytes']), () => keep('/v1/runs/' + encodeURIComponent(r.id) + '/' + k, r.id + '.' + k), 'small'), ' '])));
  };
  const step = (name, data) => {
    if (!body.isConnected && lines > 0) return false;
    if (name === 'output') put(data.stream, decode[data.stream].decode(Uint8Array.from(atob(data.base64), c => c.charCodeAt(0)), { stream: true }));
    else if (name === 'end') { rest(data); if (live) draw(); }
    return true;
  };
  every(body, 1, () => {}, () => stop.abort());
  if (live) count.replaceChildren('nothing yet');
  events('/v1/runs/' + encodeURIComponent(r.id) + '/events', step, stop.signal).catch(e => { if (e.name !== 'AbortError') say(told(e), true); });
  const follow = h('button.btn.small', { type: 'button', id: 'follow', 'aria-pressed': String(on), 'data-key': 'follow', click: () => {
    on = !on;
    follow.setAttribute('aria-pressed', String(on));
    follow.replaceChildren(on ? 'Following' : 'Follow');
    if (on) body.scrollTop = body.scrollHeight;
  } }, on ? 'Following' : 'Follow');
  return h('section.card', h('header', h('h2', 'Output'), count, h('span.grow'), live && follow), body);
}
// Of a box of one's own: its newest output, asked for again while it runs.
function ownOutput(r) {
  const body = h('div.out', { tabindex: 0, role: 'log', 'aria-label': 'Output', 'aria-live': 'off' });
  let had;
  const put = x => {
    if (x.stdout === had) return;
    had = x.stdout;
    const text = new TextDecoder().decode(Uint8Array.from(atob(had || ''), c => c.charCodeAt(0))), end = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
    body.replaceChildren(...text.replace(/\n$/, '').split('\n').slice(-LINES_MAX).map(l => h('div', inert(l).split(/(\\u\{[0-9a-f]+\})/).map(p => /^\\u\{/.test(p) ? h('span.made', p) : p))));
    if (!had) body.replaceChildren(h('p.empty', 'Nothing was kept. What a run prints goes to its terminal; of `--detach` and of sessions the newest is kept.'));
    else if (end) body.scrollTop = body.scrollHeight;
  };
  put(r);
  if (r.state !== 'ended') every(body, 2, async () => put(await api('GET', '/v1/runs/' + encodeURIComponent(r.id))));
  return h('section.card', h('header', h('h2', 'Output')), body);
}
const deniedOf = records => records.filter(x => x.phase === 'denied' && !more(x).minor).map(x => ({ effect: nameOf(x), why: more(x).reason, permit: more(x).permit, count: x.count || 1 }));
function blockedPart(r) {
  const minor = r.minor > 0 ? plural(r.minor, 'further denial') + ' of the kind that programs get over; the records list them.' : '';
  if (!r.blocked || !r.blocked.length) return h('section.card', empty('Nothing was blocked', minor));
  return h('div.stack.wide', r.blocked.map(b => h('section.card', h('header', st('block'), h('h2.wrap.grow', h('code', b.effect)), b.count > 1 && tag('× ' + b.count)),
    h('div.in.grid', h('div.c5', kv([['Why', b.why]])), h('div.c7.stack', h('h3', 'The line that would open it'), b.permit ? copyable(b.permit) : h('p.soft', 'None is proposed.'))))),
  minor && h('p.small.soft', minor));
}

// ---- records ----

const WORDS = { net: 'network', exec: 'program', gate: 'approval' };
const wordOf = x => WORDS[x.kind] || x.kind;
async function traceOf(x) {
  const all = await api('GET', '/v1/ledger/' + encodeURIComponent(x.id) + '/trace'), item = t => h('li.cut', h('code', wordOf(t.record) + ' ' + nameOf(t.record)));
  const part = (title, list, none) => h('div.stack', h('h3', title), h('ul', list.slice(0, 12).map(item), list.length > 12 && h('li.soft', list.length - 12 + ' more'), !list.length && h('li.soft', none)));
  const proof = h('div'), id = encodeURIComponent(x.id);
  return h('div.trace', part('Causes', all.filter(t => t.way === 'back'), 'none: it begins the run'), part('Led to', all.filter(t => t.way === 'forward' && t.depth > 0), 'nothing'),
    h('div.stack', h('h3', 'Record'), kv([['Door', x.door && h('code', x.door)], ['Phase', x.phase], ['Result', x.result], ['Bytes', x.bytes && bytes(x.bytes)], ['Time', dayOf(x.time / 1000) + ' ' + clockOf(x.time / 1000)],
      ['Clock', x.clock && group(x.clock)], ['Digest', x.digest && h('code', x.digest)], ['Id', h('code', x.id)], ...Object.entries(more(x)).map(([k, v]) => [k, h('code', v)])]),
    h('span.line', button('Proof', async () => { proof.replaceChildren(h('pre.bytes', { tabindex: 0 }, await api('GET', '/v1/ledger/' + id + '/proof'))); }, 'small')), proof));
}
function recordList(list, q, from) {
  return h('div', list.map(x => {
    const deny = x.phase === 'denied', parts = [h('span.small.soft', { title: clockOf(x.time / 1000) }, '+' + dur((x.time - from) / 1000)), h('span.line.small', deny && st('block', 'blocked'), wordOf(x)),
      h('code.cut', { title: nameOf(x) }, nameOf(x)), h('span', { class: 'small cut ' + (deny ? 'bad' : 'soft') }, (deny && more(x).reason) || x.result || (x.bytes ? bytes(x.bytes) : ''))];
    const line = h('div.rec', { tabindex: 0, role: 'button', 'data-key': x.id, 'aria-expanded': 'false', click: () => toggle(),
      keydown: e => { if (e.key === ' ' || e.key === 'Enter') { e.preventDefault(); toggle(); } } }, parts);
    const toggle = async () => {
      if (line.nextSibling?.classList.contains('trace')) { line.nextSibling.remove(); line.setAttribute('aria-expanded', 'false'); return; }
      line.setAttribute('aria-expanded', 'true');
      try { line.after(await traceOf(x)); } catch (e) { say(told(e), true); }
    };
    if (q.record === x.id) queueMicrotask(toggle);
    return line;
  }));
}

// ---- changes ----

function parseDiff(diff) {
  let a = 0, b = 0;
  return diff.split('\n').map(l => {
    const k = l[0], m = k === '@' ? /-(\d+)\S* \+(\d+)/.exec(l) : null;
    if (m) { a = +m[1]; b = +m[2]; return { k, text: l }; }
    if (k !== '+' && k !== '-' && k !== ' ') return { k: '@', text: l };
    return { k, a: k === '+' ? '' : a++, b: k === '-' ? '' : b++, text: l.slice(1) };
  });
}
// What differs within a pair of lines.
function inside(x, y) {
  let i = 0, j = 0;
  while (i < x.length && x[i] === y[i]) i++;
  while (j < Math.min(x.length, y.length) - i && x.at(-1 - j) === y.at(-1 - j)) j++;
  const cut = t => i + j < 3 || t.length - j <= i ? [t] : [t.slice(0, i), h('mark', t.slice(i, t.length - j)), t.slice(t.length - j)];
  return [cut(x), cut(y)];
}
function diffTable(text, side, name) {
  const rows = parseDiff(text), pairs = [], kids = new Map();
  for (let i = 0; i < rows.length;) {
    let d = i;
    while (d < rows.length && rows[d].k === '-') d++;
    let p = d;
    while (p < rows.length && rows[p].k === '+') p++;
    if (p === i) { pairs.push([rows[i++]]); continue; }
    for (let k = 0; k < Math.max(d - i, p - d); k++) {
      const x = i + k < d ? rows[i + k] : undefined, y = d + k < p ? rows[d + k] : undefined;
      if (x && y) { const [u, v] = inside(x.text, y.text); kids.set(x, u); kids.set(y, v); }
      pairs.push([x, y]);
    }
    i = p;
  }
  const sign = { '-': '−', '+': '+', ' ': ' ' }, cls = { '-': 'del', '+': 'add', ' ': '' }, words = r => kids.get(r) || [r.text];
  const hunk = r => h('tr.hunk', h('td', { colspan: side ? 6 : 4 }, r.text));
  const half = (r, key) => r ? [h('td', { class: 'n ' + cls[r.k] }, r[key]), h('td', { class: 'g ' + cls[r.k] }, sign[r.k]), h('td', { class: 'half ' + cls[r.k] }, words(r))] : [h('td.n.void'), h('td.g.void'), h('td.half.void')];
  const body = side ? pairs.map(([x, y]) => x && x.k === '@' ? hunk(x) : x && x.k === ' ' ? h('tr', half(x, 'a'), half(x, 'b')) : h('tr', half(x, 'a'), half(y, 'b')))
    : rows.map(r => r.k === '@' ? hunk(r) : h('tr', { class: cls[r.k] }, h('td.n', r.a), h('td.n', r.b), h('td.g', sign[r.k]), h('td', words(r))));
  const columns = side ? ['n', 'g', '', 'n', 'g', ''] : ['n', 'n', 'g', ''];
  return h('table.diff', { 'aria-label': 'Difference of ' + name }, h('colgroup', columns.map(x => h('col', { class: x }))), h('tbody', body));
}
// The text of a change by entries: each begins with a line that is neither a hunk nor a part of one.
function diffsOf(text, entries) {
  const parts = [];
  for (const l of text.slice(text.startsWith('Flagged') ? text.indexOf('\n\n') + 2 : 0).split('\n')) {
    if (l && !'@+- \\'.includes(l[0])) parts.push([]);
    else if (parts.length && l) parts.at(-1).push(l);
  }
  return parts.length === entries.length ? parts.map(p => p.join('\n')) : undefined;
}
function changePart(c, text, q) {
  const diffs = diffsOf(text, c.entries), all = c.entries.map((f, i) => ({ ...f, diff: diffs && diffs[i] })), flagged = all.filter(f => f.flags.length);
  const files = all.sort((a, b) => b.flags.length - a.flags.length || !!b.conflict - !!a.conflict || (a.path < b.path ? -1 : 1)), now = files.find(f => f.path === q.file) || files[0];
  const wide = matchMedia('(min-width: 901px)').matches, side = q.view === 'side' && wide, base = '/v1/changes/' + encodeURIComponent(c.run);
  const include = h('input', { type: 'checkbox', id: 'flagged' }), href = f => '#/' + address().parts.map(encodeURIComponent).join('/') + query({ view: q.view, file: f.path });
  const letter = f => f.change.includes('added') ? 'A' : f.change.includes('deleted') ? 'D' : 'M';
  const act = async (what, body) => {
    say(what === 'apply' ? 'Applying; where the door asks, it waits for another person' : 'Undoing');
    const a = await api('POST', base + '/' + what, body);
    if (a.conflicts) say(plural(a.conflicts, 'file') + ' changed meanwhile: nothing was done', true);
    else say(what === 'apply' ? plural(a.applied, 'file') + ' applied' + (a.held ? ', ' + a.held + ' held back' : '') : plural(a.undone, 'file') + ' as before');
    draw();
  };
  const apply = n => sure('Apply ' + plural(n, 'file'), 'Press again to apply', () => act('apply', { flagged: include.checked }), 'main', { id: 'apply', disabled: !can('apply'), 'data-key': 'apply' });
  const undo = sure('Undo what was applied', 'Press again to undo', () => act('undo', {}), '', { id: 'undo', disabled: !can('apply'), 'data-key': 'undo' });
  const drop = sure('Discard', 'Press again to discard', async () => { await api('DELETE', base); say('Discarded'); location.hash = '#/changes'; }, '', { disabled: !can('apply') });
  if (!now) return h('section.card', empty(c.state === 'applied' ? 'All is applied' : 'Nothing is left to apply', 'What was applied can be undone.'), h('div.answer', h('div.line.flow', undo, drop)));
  return [flagged.length && h('div.note.bad', st('block'), h('div', h('b', plural(flagged.length, 'file') + ' would be run or trusted by the host without being asked. '), 'Apply leaves them out unless you say so.')),
    h('div.split', h('section.card', h('header', h('h2.grow', plural(files.length, 'file')), h('span.mono', h('span.good', '+' + sum(files.map(f => f.lines_added))), ' ', h('span.bad', '−' + sum(files.map(f => f.lines_removed))))),
      h('div.pickable.tight', files.map(f => h('a', { href: href(f), 'aria-current': f === now ? 'true' : undefined, 'data-key': f.path },
        f.flags.length ? st('block', 'flagged') : f.conflict ? st('limit', 'conflict') : h('span', { class: 'mono chg ' + (letter(f) === 'A' ? 'good' : 'soft'), title: f.change.join(', ') }, letter(f)),
        h('code.cut.grow', { title: f.path }, f.path), h('span.small.mono', f.lines_added > 0 && h('span.good', '+' + f.lines_added), ' ', f.lines_removed > 0 && h('span.bad', '−' + f.lines_removed))))),
      h('div.answer', flagged.length > 0 && h('label.line', include, 'also the ' + flagged.length + ' flagged'), h('div.line.flow', apply(files.length - flagged.length), undo, drop))),
    h('section.card', h('header', h('code.wrap', now.path), now.change.map(k => tag(k)), now.kinds.map(k => tag(k, 'bad')), h('span.grow'),
      h('span.hide-m', seg('View', side ? 'side' : '', [['', 'Unified'], ['side', 'Side by side']], k => ask({ view: k }, true)))),
    now.flags.length > 0 && h('p.in.bad.tightp', now.flags.join('; ') + '.'), now.conflict && h('p.in.warn.tightp', now.conflict),
    now.diff ? diffTable(now.diff, side, now.path) : diffs ? empty('No lines to show', now.binary ? 'The file is binary.' : 'A directory, or only its mode.') : h('pre.bytes', { tabindex: 0 }, text)))];
}
