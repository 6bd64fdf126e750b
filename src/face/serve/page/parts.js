// parts.js - what every view is made of: elements, words for figures, icons, small figures, tables.
// Everything that a box, a tenant or a file can name reaches the page as text: no markup is ever parsed.
'use strict';
const $ = id => document.getElementById(id), SVG = 'http:' + '//www.w3.org/2000/svg';
// Characters that are not seen, or turn the direction of those around them, are written out.
const inert = text => String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu,
  c => c === '\n' || c === '\t' ? c : '\\u{' + c.codePointAt(0).toString(16) + '}');
const isNothing = v => v === undefined || v === null || v === false || v === '';
function fill(e, props, kids) {
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (typeof v === 'function') e.addEventListener(k, v);
    else if (['value', 'checked', 'disabled', 'open', 'selected'].includes(k)) e[k] = v;
    else e.setAttribute(k, v === true ? '' : inert(v));
  }
  for (const c of kids.flat(9)) if (!isNothing(c)) e.append(c instanceof Node ? c : inert(c));
  return e;
}
// h('div.card', {props}, ...what is in it); the props may be left out. s() makes the same of SVG.
const named = name => { const [tag, ...classes] = name.split('.'); return [tag, classes.join(' ')]; };
function h(name, props, ...kids) {
  const [tag, classes] = named(name), plain = props && props.constructor === Object, e = document.createElement(tag);
  if (classes) e.className = classes;
  return fill(e, plain ? props : {}, plain ? kids : [props, ...kids]);
}
function s(name, props = {}, ...kids) {
  const [tag, classes] = named(name), e = document.createElementNS(SVG, tag);
  if (classes) e.setAttribute('class', classes);
  return fill(e, props, kids);
}

// ---- words and figures ----

const short = v => v >= 100 || v % 1 < 0.05 ? v.toFixed(0) : v.toFixed(1), two = n => String(n).padStart(2, '0');
const group = n => Math.round(n).toLocaleString('en'), plural = (n, one, more = one + 's') => group(n) + ' ' + (n === 1 ? one : more);
const sum = list => list.reduce((a, b) => a + b, 0);
function bytes(n) {
  for (const [i, unit] of ['GB', 'MB', 'KB'].entries()) if (n >= 1024 ** (3 - i)) return short(n / 1024 ** (3 - i)) + ' ' + unit;
  return Math.round(n) + ' B';
}
function dur(ms) {
  const t = Math.floor(ms / 1000);
  if (ms < 1000) return Math.max(0, Math.round(ms)) + ' ms';
  if (t < 60) return (ms / 1000).toFixed(1) + ' s';
  if (t < 3600) return Math.floor(t / 60) + 'm' + (t % 60 ? ' ' + two(t % 60) + 's' : '');
  if (t < 172800) return Math.floor(t / 3600) + 'h' + (t % 3600 < 60 ? '' : ' ' + two(Math.floor(t / 60) % 60) + 'm');
  return Math.floor(t / 86400) + ' days';
}
const clockOf = t => { const d = new Date(t); return two(d.getHours()) + ':' + two(d.getMinutes()) + ':' + two(d.getSeconds()); };
const dayOf = t => new Date(t).toLocaleDateString('en', { day: 'numeric', month: 'short' });
function ago(t) {
  const v = (Date.now() - t) / 1000;
  if (v < 5) return 'just now';
  if (v < 60) return Math.round(v) + ' s ago';
  if (v < 3600) return Math.round(v / 60) + ' min ago';
  return v < 86400 ? Math.round(v / 3600) + ' h ago' : Math.round(v / 86400) + ' d ago';
}
// Times of runs are seconds, those of records microseconds; here all are milliseconds.
const when = t => h('time', { datetime: new Date(t).toISOString(), title: dayOf(t) + ' ' + clockOf(t) }, ago(t));
const cmd = r => r.argv.map(a => /[\s"']/.test(a) ? '"' + a.replace(/["\\]/g, '\\$&') + '"' : a).join(' ');
const middle = (t, n) => t.length <= n ? t : t.slice(0, Math.ceil(n * 0.55) - 1) + '…' + t.slice(t.length - Math.floor(n * 0.45));

// ---- icons: a state is a shape, then a colour ----

const P = (d, more = {}) => s('path', { d, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, 'stroke-linecap': 'round', 'stroke-linejoin': 'round', ...more });
const solid = d => s('path', { d, fill: 'currentColor' }), cutout = d => P(d, { class: 'hole' });
const circle = (r, more = {}) => s('circle', { cx: 8, cy: 8, r, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, ...more });
const disc = () => s('circle', { cx: 8, cy: 8, r: 7, fill: 'currentColor' });
const SHAPES = {
  run: () => [circle(6), s('circle.dot', { cx: 8, cy: 8, r: 3, fill: 'currentColor' })],
  queue: () => [circle(6, { 'stroke-dasharray': '2.5 2.2' })],
  ok: () => [disc(), cutout('M5 8.2l2.2 2.2L11 6')],
  fail: () => [s('rect', { x: 1.5, y: 1.5, width: 13, height: 13, rx: 3, fill: 'currentColor' }), cutout('M5.5 5.5l5 5m0-5l-5 5')],
  wait: () => [solid('M8 .8L15.2 8 8 15.2.8 8z'), cutout('M8 5v3.2M8 10.8v.1')],
  limit: () => [solid('M8 1.2L15.4 14.4H.6z'), cutout('M8 6v4M8 12.2v.1')],
  stop: () => [s('rect', { x: 2.5, y: 2.5, width: 11, height: 11, rx: 2, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 })],
  block: () => [solid('M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z'), cutout('M4.5 8h7')],
  open: () => [circle(4.5)],
  note: () => [circle(6.5), P('M8 7.5v3.6M8 5v.1')],
  overview: () => [P('M2.5 2.5h4.5v5H2.5zM9 2.5h4.5v3H9zM9 8h4.5v5.5H9zM2.5 10h4.5v3.5H2.5z')],
  runs: () => [P('M4 3.2l8 4.8-8 4.8z')],
  approvals: () => [P('M8 1.8l5.2 2v4c0 3-2.2 5.2-5.2 6.4C5 13 2.8 10.8 2.8 7.8v-4zM5.7 7.9l1.7 1.7 3-3.2')],
  changes: () => [P('M8 2.5v6M5 5.5h6M5 12.8h6')],
  policies: () => [P('M3.5 13.5v-11h7v11M10.5 4.5h2v9M2 13.5h12M8 8v.5')],
  ledger: () => [P('M3 3h10M3 6.3h10M3 9.6h10M3 13h6')],
  metrics: () => [P('M2.5 13.5v-5M6.2 13.5v-9M9.9 13.5v-6M13.5 13.5v-11')],
  storage: () => [P('M2.5 4.5h4l1.5 2h5.5v7h-11z')],
  admin: () => [P('M2.5 5h6m3 0h2M2.5 11h2m3 0h6M10 3.5v3M6 9.5v3')],
  more: () => [P('M3 8h.1M8 8h.1M13 8h.1', { 'stroke-width': 2.5 })],
  tri: () => [P('M6 4l4 4-4 4')],
  copy: () => [P('M5.5 5.5h7v8h-7zM3.5 10.5v-8h7')],
  up: () => [P('M8 12.5v-9M4.5 7L8 3.5 11.5 7')],
  down: () => [P('M8 3.5v9M4.5 9L8 12.5 11.5 9')],
  logo: () => [P('M2 4.5l6-3 6 3v7l-6 3-6-3z'), P('M8 6.5v3', { 'stroke-width': 2.5 })],
};
const icon = (name, cls = '', label) => s('svg', { width: 16, height: 16, viewBox: '0 0 16 16', class: cls, 'aria-hidden': label ? undefined : 'true',
  role: label ? 'img' : undefined, 'aria-label': label }, SHAPES[name]());
const st = (name, label) => icon(name, 'st is-' + name, label);
const ENDS = { cancelled: ['stop', 'Stopped'], 'not-started': ['fail', 'Not started'], failed: ['fail', 'Failed'] };
function stateOf(r) {
  if (r.state === 'queued') return ['queue', 'Queued'];
  if (r.state === 'running') return waitOf(r) ? ['wait', 'Waits for a yes'] : ['run', 'Running'];
  if (r.end === 'limit') return ['limit', r.limit ? r.limit[0].toUpperCase() + r.limit.slice(1) + ' limit' : 'At a limit'];
  if (r.end === 'interrupted') return ['stop', 'Interrupted'];
  if (r.end === 'signaled') return ['fail', 'Signal, ' + r.status];
  return ENDS[r.end] || (r.status === 0 ? ['ok', 'Exited 0'] : ['fail', 'Exited ' + r.status]);
}
function pill(r, words = true) {
  const [shape, text] = stateOf(r);
  return h('span.pill', st(shape, words ? undefined : text), words && text);
}
const tag = (text, cls = '') => h('span', { class: 'tag ' + cls }, text);

// ---- small figures ----

function spark(values, label, w = 80, height = 20) {
  const line = s('path.spark'), area = s('path.spark-fill');
  const e = s('svg', { width: w, height, viewBox: `0 0 ${w} ${height}`, role: 'img', 'aria-label': label }, area, line);
  e.update = v => {
    const top = Math.max(...v, 0.001) * 1.15, x = i => v.length < 2 ? w : i * w / (v.length - 1);
    const d = 'M' + v.map((y, i) => x(i).toFixed(1) + ' ' + (height - 1 - y / top * (height - 3)).toFixed(1)).join('L');
    line.setAttribute('d', v.length ? d : '');
    area.setAttribute('d', v.length ? d + `L${w} ${height}L0 ${height}z` : '');
  };
  e.update(values);
  return e;
}
function meter(share, label, calm) {
  const bar = s('rect', { x: 0, y: 0, height: 4 });
  const e = s('svg', { viewBox: '0 0 100 4', preserveAspectRatio: 'none', role: 'meter', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 100 }, bar);
  e.update = v => {
    const p = Math.max(0, Math.min(100, v * 100 || 0));
    bar.setAttribute('width', p);
    e.setAttribute('aria-valuenow', Math.round(p));
    e.setAttribute('class', 'meter ' + (calm ? 'calm' : v >= 0.95 ? 'bad' : v >= 0.8 ? 'warn' : ''));
  };
  e.update(share);
  return e;
}
// Time that is left, of ten minutes or more.
function ring(until, size = 40) {
  const at = size / 2, r = at - 3, fg = s('circle.fg', { cx: at, cy: at, r, 'stroke-width': 3, pathLength: 100, transform: `rotate(-90 ${at} ${at})` });
  const text = s('text', { x: at, y: at + 4 });
  const e = s('svg', { width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: 'timer' }, s('circle.bg', { cx: at, cy: at, r, 'stroke-width': 3 }), fg, text);
  const update = () => {
    const left = Math.max(0, (until - Date.now()) / 1000);
    fg.setAttribute('stroke-dasharray', Math.min(100, left / 6) + ' 100');
    text.textContent = left >= 3600 ? Math.floor(left / 3600) + 'h' : Math.floor(left / 60) + ':' + two(Math.floor(left % 60));
    e.setAttribute('class', 'ring' + (left < 180 ? ' late' : ''));
    e.setAttribute('aria-label', Math.ceil(left / 60) + ' min left');
  };
  update();
  every(e, 1, update);
  return e;
}
// A figure that is drawn for its width, and again when that changes.
function sized(draw, cls = '') {
  const e = h('div', { class: cls });
  let had = 0;
  const look = () => {
    const w = Math.floor(e.clientWidth);
    if (w && w !== had) e.replaceChildren(draw(had = w));
  };
  new ResizeObserver(look).observe(e);
  every(e, 1, look); // where nothing is painted, nothing is observed
  return e;
}
function lineOf(values, label, height = 96) {
  return sized(w => { const e = spark(values, label, w, height); e.classList.add('trend'); return e; });
}

// ---- parts of views ----

const card = (title, extra, ...kids) => h('section.card', h('header', h('h2', title), extra && [h('span.grow'), extra]), kids);
const head = (title, acts = [], crumb) => h('div.head', crumb && h('nav.crumb', { 'aria-label': 'Where' }, crumb), h('h1', { tabindex: -1 }, title), h('div.acts', acts));
const empty = (title, text, code) => h('div.empty', h('h2', title), text && h('p', text), code && h('code', code));
const told = x => x.message + (x.hint ? ': ' + x.hint : '');
const button = (text, fn, cls = '', props = {}) => h('button', { type: 'button', class: 'btn ' + cls, 'data-key': text,
  click: async e => { e.stopPropagation(); try { await fn(e); } catch (x) { say(told(x), true); } }, ...props }, text);
// What cannot be taken back takes a second press within 4 s.
function sure(text, again, fn, cls, props) {
  const calm = () => { delete b.dataset.sure; b.replaceChildren(text); b.classList.remove('no'); };
  const b = button(text, async () => {
    if (b.dataset.sure) { calm(); await fn(); return; }
    b.dataset.sure = 1;
    b.replaceChildren(again);
    b.classList.add('no');
    setTimeout(calm, 4000);
  }, cls, props);
  return b;
}
const copyable = line => h('div.doorline', h('code', line), button('Copy', async () => { await navigator.clipboard.writeText(line); say('Copied'); },
  'bare small', { 'aria-label': 'Copy ' + line }));
const tabs = (base, now, list) => h('nav.tabs', { 'aria-label': 'Parts' }, list.filter(Boolean).map(([k, name, n]) => h('a', { href: '#/' + base + (k ? '/' + k : ''),
  'aria-current': now === k ? 'page' : undefined, 'data-key': 'tab' + k }, name, n ? h('span.count', n) : '')));
const seg = (label, now, list, fn) => h('div.seg', { role: 'group', 'aria-label': label }, list.map(([k, t]) => h('button', { type: 'button',
  'aria-pressed': String(k === now), click: () => fn(k), 'data-key': 'seg' + k }, t)));
const row = (to, cells) => h('tr.go', { click: e => { if (!e.target.closest('a, button, input')) location.hash = to; } }, cells);
const td = (label, cls, ...kids) => h('td', { class: cls, 'data-l': label || undefined }, kids);
const th = x => Array.isArray(x) ? h('th', { scope: 'col', class: x[1] }, x[0]) : h('th', { scope: 'col' }, x || h('span.sr', 'Action'));
const table = (name, heads, rows, cls = 'stackable') => h('table', { class: 'tbl ' + cls, 'aria-label': name }, h('thead', h('tr', heads.map(th))), h('tbody', rows));
const kv = pairs => h('dl.kv', pairs.filter(p => p && !isNothing(p[1])).map(([k, v]) => [h('dt', k), h('dd', v)]));
const runHref = id => '#/run/' + encodeURIComponent(id);
const search = (name, hint) => {
  let timer;
  const i = h('input.field.grow', { type: 'search', id: 'find', placeholder: hint, 'aria-label': hint, value: address().q[name] || '', 'data-key': 'find',
    input: () => { clearTimeout(timer); timer = setTimeout(() => ask({ [name]: i.value, page: '', show: '' }, true), 200); } });
  return i;
};
const chip = (name, value, text, n) => h('button.chip', { type: 'button', 'aria-pressed': String((address().q[name] || '') === value), 'data-key': 'chip' + value,
  click: () => ask({ [name]: value, page: '', show: '' }) }, text, n !== undefined && h('b', group(n)));
