// more.js - usage as charts; files, images and credentials; tokens.
'use strict';

// ---- charts ----

const DAY = 86400000, RANGES = { '24h': [24, 3600000], '7d': [7, DAY], '30d': [30, DAY] };
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
// ---- usage ----

const cpuTime = v => v >= 3600 ? (v / 3600).toFixed(1) + ' h' : v >= 60 ? (v / 60).toFixed(0) + ' min' : v >= 0.1 ? short(v) + ' s' : v ? Math.round(v * 1000) + ' ms' : '0', gbh = v => v >= 1 ? short(v) + ' GBh' : v ? (v < 0.01 / 1024 ? '< 0.01' : v < 1 / 1024 ? (v * 1024).toFixed(2) : short(v * 1024)) + ' MBh' : '0';
const MEASURES = [['runs', 'Runs', group], ['failed', 'Failed', group], ['denials', 'Effects blocked', group], ['cpu', 'Processor time', cpuTime], ['memory', 'Memory over time', gbh], ['printed', 'Printed', bytes], ['net', 'Network', bytes], ['approvals', 'Approvals asked', group]];
const span = range => { const [n, step] = RANGES[range], to = Math.floor(Date.now() / step) * step; return { n, step, to, from: to - (n - 1) * step }; };
// Rows {tenant, time, runs, failed ...} as a list for each slot of time, by tenant.
function slots(rows, { n, step, from }) {
  const by = {};
  for (const r of rows) {
    const i = Math.floor((r.time - from) / step);
    if (i < 0 || i >= n) continue;
    by[r.tenant] ??= Object.fromEntries(MEASURES.map(([k]) => [k, Array(n).fill(0)]));
    for (const [k] of MEASURES) by[r.tenant][k][i] += r[k] || 0;
  }
  return by;
}
// Of a server: what it counted by tenant and hour.
async function usageRows(from) {
  const { hours } = await api('GET', '/v1/usage' + query({ since: Math.floor(from / 1000) }));
  return hours.map(x => ({ tenant: x.tenant, time: x.hour * 1000, runs: x.runs, failed: x.failed, denials: x.denials, cpu: x.cpu_ns / 1e9, memory: x.memory_byte_s / 3600 / 1024 ** 3, printed: x.output_bytes, net: x.net_bytes, approvals: x.approvals }));
}
// Of one person: the records say it.
async function recordRows(from) {
  const ask = async kind => (await api('GET', '/v1/ledger' + query({ kind, since: Math.floor(from / 1000), last: 1000 }))).records, num = (x, k) => Number(more(x)[k]) || 0;
  const [ends, denied, gates, nets] = await Promise.all(['end', 'denied', 'gate', 'net'].map(ask)), row = (x, o) => ({ tenant: 'yours', time: x.time / 1000, ...o });
  return [...ends.map(x => row(x, { runs: 1, failed: x.result === 'exited 0' ? 0 : 1, cpu: num(x, 'cpu-us') / 1e6, memory: num(x, 'memory') * num(x, 'wall-us') / 3.6e9 / 1024 ** 3, printed: x.bytes || 0 })),
    ...denied.filter(x => !more(x).minor).map(x => row(x, { denials: 1 })), ...gates.filter(x => x.phase === 'claim').map(x => row(x, { approvals: 1 })), ...nets.filter(x => x.phase !== 'denied').map(x => row(x, { net: x.bytes || 0 }))];
}
views.usage = async q => {
  const range = RANGES[q.range] ? q.range : '7d', t = span(range), by = slots(await (me.own ? recordRows : usageRows)(t.from), t), total = (name, k) => sum(by[name][k]);
  const names = Object.keys(by).sort((a, b) => total(b, 'runs') - total(a, 'runs') || (a < b ? -1 : 1)), first = names.slice(0, 3), rest = names.slice(3), COLOURS = ['f1', 'f2', 'f4'];
  const top = head('Usage', [seg('Time', range, [['24h', '24 hours'], ['7d', '7 days'], ['30d', '30 days']], k => ask({ range: k }))]);
  if (!names.length) return [top, h('section.card', empty('Nothing was used in this time', 'Processor time, memory, bytes and approvals are counted from the first run.', me.own ? starting() : ''))];
  const one = names.length === 1, series = k => [...first.map((name, i) => ({ name, cls: ['denials', 'failed'].includes(k) && one ? 'f3' : COLOURS[i], values: by[name][k] })),
    ...rest.length ? [{ name: 'others', cls: 'f4', values: by[rest[0]][k].map((_, i) => sum(rest.map(r => by[r][k][i]))) }] : []];
  const part = ([k, title, unit]) => h('section.card.c6', h('div.in', chart({ title, unit, step: t.step, to: t.to, series: k === 'runs' && one ? [{ name: 'done', cls: 'f1', values: by[names[0]].runs.map((v, i) => Math.max(0, v - by[names[0]].failed[i])) }, { name: 'failed', cls: 'f3', values: by[names[0]].failed }] : series(k) })));
  return [top, one ? keys([['f1', 'done, used'], ['f3', 'failed, blocked']]) : keys([...first.map((n, i) => [COLOURS[i], n]), ...rest.length ? [['f4', 'others']] : []]), redraw(h('div.grid', { id: 'usage' }, MEASURES.filter(([k]) => k !== 'failed' || !one).map(part)), 30),
    card('By tenant', undefined, h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Usage by tenant' }, table('Usage by tenant', ['Tenant', ...MEASURES.map(([, title]) => [title, 'num'])], names.map(n => h('tr', td('', 'cmd', h('b', n)), MEASURES.map(([k, title, unit]) => td(title.toLowerCase(), 'num nowrap', unit(total(n, k))))))))),
    can('admin') || can('read') ? h('p.small.soft', 'For Prometheus: GET /v1/metrics') : ''];
};

// ---- files, images, credentials ----

async function filesPart(q) {
  const at = q.at || '', path = '/v1/files' + at.split('/').map(encodeURIComponent).join('/').replace(/^(?=.)/, '/'), list = (await api('GET', path)).entries, up = at.split('/').slice(0, -1).join('/');
  const get = x => keep(path + '/' + encodeURIComponent(x.name), x.name);
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
