// more.js - usage as charts; files, images and credentials; tokens.
'use strict';

// ---- charts ----

const MB = 1048576, DAY = 86400000, RANGES = { '24h': [24, 3600000], '7d': [7, DAY], '30d': [30, DAY] };
function roundUp(top, unit) {
  const base = unit === bytes ? 1024 ** Math.floor(Math.log2(top || 1) / 10) : 1, v = (top || 1) / base, p = 10 ** Math.floor(Math.log10(v));
  return base * p * [1, 2, 3, 4, 5, 6, 8, 10].find(x => x * p >= v);
}
// Bars on top of each other, or lines. What is under the pointer is read out in the heading, and all of it is in the label.
function chart({ title, series, step, to, unit = group, kind = 'bars', height = 128, total = true }) {
  const n = series[0].values.length, label = i => { const t = to - (n - 1 - i) * step; return step < DAY ? two(new Date(t).getHours()) + ':00' : dayOf(t); };
  const said = h('span.small.soft'), calm = () => said.replaceChildren(total ? unit(sum(series.map(x => sum(x.values)))) : '');
  const highest = i => kind === 'bars' ? sum(series.map(x => x.values[i])) : Math.max(...series.map(x => x.values[i]));
  calm();
  const body = sized(w => {
    const left = 56, bottom = height - 20, top = roundUp(Math.max(...series[0].values.map((_, i) => highest(i))), unit), slot = (w - left) / n, y = v => bottom - v / top * (bottom - 8);
    const g = s('svg', { width: w, height, viewBox: `0 0 ${w} ${height}`, role: 'img', 'aria-label': title + ': ' + series.map(x => x.name + ' ' + unit(sum(x.values)) + ', at most ' + unit(Math.max(...x.values))).join('; ') });
    for (const v of [0, top / 2, top]) g.append(s('line.ax', { x1: left, x2: w, y1: y(v), y2: y(v) }), s('text.axt', { x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, unit(v)));
    const each = Math.max(1, Math.ceil(n / Math.max(2, Math.floor((w - left) / 72))));
    for (let i = 0; i < n; i += each) g.append(s('text.axt', { x: left + i * slot + slot / 2, y: height - 4, 'text-anchor': i ? 'middle' : 'start' }, label(i)));
    for (let i = 0; i < n && kind === 'bars'; i++) {
      let base = 0;
      for (const x of series) {
        const v = x.values[i];
        if (v > 0) g.append(s('rect', { class: x.cls, x: left + i * slot + slot * 0.15, width: Math.max(1, slot * 0.7), y: y(base + v), height: y(base) - y(base + v), rx: 1 }));
        base += v;
      }
    }
    if (kind === 'lines') for (const x of series) g.append(s('path', { class: x.cls, d: 'M' + x.values.map((v, i) => (left + (i + 0.5) * slot).toFixed(1) + ' ' + y(v).toFixed(1)).join('L') }));
    const aim = s('rect.aim', { y: 0, height: bottom, width: slot, visibility: 'hidden' });
    g.append(aim);
    g.addEventListener('pointermove', e => {
      const i = Math.max(0, Math.min(n - 1, Math.floor((e.offsetX - left) / slot)));
      aim.setAttribute('x', left + i * slot);
      aim.setAttribute('visibility', 'visible');
      said.replaceChildren(label(i) + '  ' + series.map(x => x.name + ' ' + unit(x.values[i])).join(', '));
    });
    g.addEventListener('pointerleave', () => { aim.setAttribute('visibility', 'hidden'); calm(); });
    return g;
  });
  return h('figure.stack', h('figcaption.line', h('b.cap', title), h('span.grow'), said), body);
}
const keys = list => h('div.legend', list.map(([cls, name]) => h('span', s('svg', { width: 8, height: 8, 'aria-hidden': 'true' }, s('rect', { class: cls, width: 8, height: 8, rx: 2 })), name)));
// Bars of names: what a tenant did, beside the others.
function ranked(title, rows, unit = group) {
  const most = Math.max(1, ...rows.map(([, v]) => v));
  return card(title, h('span.small.soft', unit(sum(rows.map(([, v]) => v)))), h('div.in.ranked', rows.map(([name, v]) => [h('span.cut', name), meter(v / most, name + ' ' + unit(v), true), h('span.num', unit(v))])));
}

// ---- usage: of a tenant from its records, of all from the counters ----

const cpuTime = v => v >= 3600 ? (v / 3600).toFixed(1) + ' h' : v >= 60 ? (v / 60).toFixed(0) + ' min' : v >= 0.1 ? short(v) + ' s' : v ? Math.round(v * 1000) + ' ms' : '0';
async function usageOfRecords(range) {
  const [n, step] = RANGES[range] || RANGES['7d'], to = Math.floor(Date.now() / step) * step, since = Math.floor((to - (n - 1) * step) / 1000);
  const ask = async kind => (await api('GET', '/v1/ledger' + query({ kind, since, last: 1000 }))).records;
  const [starts, ends, denied, gates, nets] = await Promise.all(['start', 'end', 'denied', 'gate', 'net'].map(ask));
  const slots = (records, value) => {
    const v = Array(n).fill(0);
    for (const x of records) { const i = Math.floor((x.time / 1000 - since * 1000) / step); if (i >= 0 && i < n) v[i] += value(x); }
    return v;
  };
  const one = () => 1, num = k => x => Number(more(x)[k]) || 0, failed = ends.filter(x => x.result !== 'exited 0'), asked = gates.filter(x => x.phase === 'claim');
  const latency = share => {
    const v = Array.from({ length: n }, () => []);
    for (const x of starts) { const i = Math.floor((x.time / 1000 - since * 1000) / step); if (i >= 0 && i < n && num('start-us')(x)) v[i].push(num('start-us')(x) / 1000); }
    return v.map(l => l.length ? l.sort((a, b) => a - b)[Math.min(l.length - 1, Math.floor(l.length * share))] : 0);
  };
  const part = (title, unit, ...series) => h('section.card.c6', h('div.in', chart({ title, unit, step, to, series })));
  const cut = [starts, ends, denied, gates, nets].some(l => l.length >= 1000);
  if (!starts.length && !denied.length) return h('section.card', empty('Nothing was used in this time', 'Runs, processor time, bytes and approvals are drawn from the records of the ledger.'));
  return [h('div.grid', part('Runs', group, { name: 'done', cls: 'f1', values: slots(ends.filter(x => x.result === 'exited 0'), one) }, { name: 'failed', cls: 'f3', values: slots(failed, one) }),
    part('Processor time', cpuTime, { name: 'used', cls: 'f1', values: slots(ends, x => num('cpu-us')(x) / 1e6) }), part('Effects blocked', group, { name: 'blocked', cls: 'f3', values: slots(denied.filter(x => !more(x).minor), one) }),
    part('Approvals asked', group, { name: 'asked', cls: 'f1', values: slots(asked, one) }), part('Printed', bytes, { name: 'printed', cls: 'f1', values: slots(ends, x => x.bytes || 0) }),
    part('Through net doors', bytes, { name: 'bytes', cls: 'f1', values: slots(nets.filter(x => x.phase !== 'denied'), x => x.bytes || 0) }),
    h('section.card.c12', h('div.in', chart({ title: 'Start of a run, ms', kind: 'lines', total: false, unit: v => v.toFixed(1), step, to, series: [{ name: 'half', cls: 'l1', values: latency(0.5) }, { name: '95 %', cls: 'l2', values: latency(0.95) }] })))),
  h('p.small.soft', 'Drawn from the records of the ledger' + (cut ? ', the newest 1000 of each kind' : '') + '. For Prometheus: GET /v1/metrics')];
}
// Of all tenants since the server started; histograms are for Prometheus.
async function usageOfAll() {
  const text = await api('GET', '/v1/metrics'), help = new Map(), by = new Map();
  for (const l of text.split('\n')) {
    const about = /^# HELP (\S+) (.*)$/.exec(l), m = /^([a-z_]+)\{tenant="([^"]*)"\} ([0-9.e+-]+)$/.exec(l);
    if (about) help.set(about[1], about[2]);
    else if (m && !/_(bucket|sum|count)$/.test(m[1])) by.set(m[1], [...(by.get(m[1]) || []), [m[2], Number(m[3])]]);
  }
  if (!by.size) return h('section.card', empty('No tenant did anything yet', 'Figures appear with the first request of each.'));
  return redraw(h('div.grid', { id: 'by-tenant' }, [...by].map(([k, rows]) => { const c = ranked((help.get(k) || k).replace(/^./, x => x.toUpperCase()), rows, /bytes/.test(k) ? bytes : group); c.classList.add('c4'); return c; })), 10);
}
views.usage = async q => {
  const range = RANGES[q.range] ? q.range : '7d', pick = can('read') && seg('Time', range, [['24h', '24 hours'], ['7d', '7 days'], ['30d', '30 days']], k => ask({ range: k }));
  return [head('Usage', [pick]), can('read') ? [keys([['f1', 'done, used'], ['f3', 'failed, blocked']]), await usageOfRecords(range)] : await usageOfAll()];
};

// ---- files, images, credentials ----

async function filesPart(q) {
  const at = q.at || '', path = '/v1/files' + at.split('/').map(encodeURIComponent).join('/').replace(/^(?=.)/, '/'), list = (await api('GET', path)).entries, up = at.split('/').slice(0, -1).join('/');
  const get = async x => {
    const a = await request('GET', path + '/' + encodeURIComponent(x.name)), link = h('a', { href: URL.createObjectURL(await a.blob()), download: x.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const rm = x => sure('Remove', 'Press again', async () => { await api('DELETE', path + '/' + encodeURIComponent(x.name)); say('Removed'); draw(); }, 'small', { 'aria-label': 'Remove ' + x.name, 'data-key': 'rm' + x.name });
  const pick = h('input', { type: 'file', id: 'upload', class: 'sr', 'aria-label': 'File to put here', change: async () => {
    const f = pick.files[0];
    if (!f) return;
    try { await request('PUT', path + '/' + encodeURIComponent(f.name), f); say('Stored'); draw(); } catch (e) { say(told(e), true); }
  } });
  return [h('div.line', h('code.grow.cut', '{work}/' + at), pick, button('Put a file', () => pick.click())), h('section.card', list.length || at ? table('Files', ['Name', ['Size', 'num'], ['Changed', 'num'], ''], [
    at && h('tr', td('', 'cmd', h('a', { href: '#/storage' + query({ at: up }) }, '..')), td(), td(), td()), list.map(x => h('tr', td('', 'cmd', x.kind === 'directory' ? h('a', { href: '#/storage' + query({ at: at ? at + '/' + x.name : x.name }) }, h('code.cut', x.name + '/')) : h('code.cut', x.name)),
      td('', 'num', x.kind === 'directory' ? '' : bytes(x.bytes)), td('', 'num soft', when(x.changed * 1000)), td('', 'num', x.kind === 'file' && button('Get', () => get(x), 'small', { 'aria-label': 'Get ' + x.name }), ' ', rm(x))))])
    : empty('No file is here', 'Runs see these files as {work}. Put one here, or:', 'curl -T FILE ' + location.origin + '/v1/files/FILE'))];
}
async function imagesPart() {
  const { images } = await api('GET', '/v1/images');
  return h('section.card', images.length ? table('Images', ['Image', 'From', ['Size', 'num'], 'In use', ''], images.map(x => h('tr', td('', 'cmd', h('code.cut', { title: x.id }, x.id.replace(/^sha256:/, '').slice(0, 12))), td('', 'soft', (x.names || [x.name]).filter(Boolean).join(', ')),
    td('', 'num', x.bytes !== undefined && bytes(x.bytes)), td('', '', x.used > 0 || x.in_use ? tag('in use', 'acc') : ''), td('', 'num', can('policy') && sure('Remove', 'Press again', async () => { await api('DELETE', '/v1/images/' + encodeURIComponent(x.id)); say('Removed'); draw(); }, 'small', { 'aria-label': 'Remove ' + x.id })))))
    : empty('No image is here', 'An image becomes the root of a box: a policy line `root ID`.', me.own ? 'cordon image add IMAGE' : 'curl --data-binary @image.tar ' + location.origin + '/v1/images'));
}
async function vaultPart() {
  const list = await api('GET', '/v1/vault'), left = x => Math.round((x.expires - Date.now() / 1000) / 86400);
  return h('section.card', list.length ? table('Credentials', ['Name', 'Goes to', 'As', ['Ends', 'num'], ''], list.map(x => h('tr.tall', td('', 'cmd', h('b', x.name), x.class === 'test' && [' ', tag('test')]), td('', '', x.for.map(f => h('code.wrap.small', f, ' '))),
    td('', 'soft', x.where + (x.field ? ' ' + x.field : '') + (x.env ? ', ' + x.env : '')), td('', 'num nowrap', left(x) < 0 ? tag('ended', 'bad') : left(x) < 7 ? tag('in ' + plural(left(x), 'day'), 'warn') : 'in ' + plural(left(x), 'day')),
    td('', 'num', sure('Remove', 'Press again', async () => { await api('DELETE', '/v1/vault/' + encodeURIComponent(x.name)); say('Removed'); draw(); }, 'small', { 'aria-label': 'Remove ' + x.name })))))
    : empty('No credential is here', 'A box uses what is here and never sees it: the broker puts it into requests of a door `with NAME`.', me.own ? 'cordon vault add NAME' : 'PUT /v1/vault/NAME'));
}
views.storage = async (q, part) => {
  const all = [can('files') && ['', 'Files'], (can('run') || can('read')) && ['images', 'Images'], can('vault') && ['vault', 'Credentials']].filter(Boolean), now = all.some(([k]) => k === (part || '')) ? part || '' : all[0][0];
  return [head('Storage'), tabs('storage', now, all), await { '': filesPart, images: imagesPart, vault: vaultPart }[now](q)];
};

// ---- tokens ----

async function tokensPart() {
  const a = await api('GET', '/v1/tokens'), list = a.tokens || a, days = t => Math.round((t.expires - Date.now() / 1000) / 86400);
  const ends = t => t.void ? tag('tenant is gone', 'bad') : t.expired ? tag('ended', 'bad') : days(t) < 7 ? tag('in ' + plural(days(t), 'day'), 'warn') : 'in ' + plural(days(t), 'day');
  return [h('section.card', list.length ? table('Tokens', ['Person', 'Token', 'Tenant', 'May', ['Ends', 'num'], ''], list.map(t => h('tr.tall', td('', 'cmd', h('b', t.person || 'no name'), t.groups && h('span.soft', ' of ' + t.groups)), td('', 'mono soft', t.id), td('', '', t.tenant || 'host'),
    td('', '', h('span.line.flow', t.scopes.map(x => tag(x, ['admin', 'approve', 'approve-own'].includes(x) ? 'acc' : '')))), td('', 'num nowrap', ends(t)), td('', 'num', sure('Void', 'Press again', async () => { await api('DELETE', '/v1/tokens/' + encodeURIComponent(t.id)); say('Void from now on'); draw(); }, 'small', { 'aria-label': 'Void ' + t.id, 'data-key': 'void' + t.id })))))
    : empty('There is no token', '')), h('p.small.soft', 'A new one is shown once, where it is made: ', h('code', 'cordon serve token new --tenant NAME'))];
}
