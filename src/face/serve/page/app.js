// app.js - the frame of the page: requests with the token, addresses, drawing, keys, what waits.
'use strict';

// ---- requests ----

let token = '', me = { scopes: [] }, leftWhy = '';
const can = scope => me.scopes.includes(scope);
const query = o => { const p = new URLSearchParams(); for (const k in o) if (!isNothing(o[k])) p.set(k, o[k]); return p.size ? '?' + p : ''; };
// A failure has status, message and hint; without a server the status is 0.
const failure = (status, message, hint) => Object.assign(new Error(message), { status, hint });
async function request(method, path, body, signal) {
  const o = { method, signal, headers: token ? { Authorization: 'Bearer ' + token } : {} };
  if (body instanceof Blob) o.body = body;
  else if (body !== undefined) { o.body = JSON.stringify(body); o.headers['Content-Type'] = 'application/json'; }
  const a = await fetch(path, o).catch(e => { throw e.name === 'AbortError' ? e : failure(0, 'The server does not answer', 'This page asks again by itself.'); });
  if (a.ok || a.status === 409 && !a.headers.get('Content-Type').includes('problem')) return a;
  const p = await a.json().catch(() => ({}));
  if (a.status === 401 && token) leave('The token is not valid, or no longer' + (p.hint ? ': ' + p.hint : ''));
  throw failure(a.status, p.detail || p.title || String(a.status), p.hint);
}
async function api(method, path, body) {
  const a = await request(method, path, body);
  return (a.headers.get('Content-Type') || '').includes('json') ? a.json() : a.text();
}

// ---- addresses: a view is its address ----

const NAV = [['', 'Overview', 'overview'], ['runs', 'Runs', 'runs'], ['approvals', 'Approvals', 'approvals'], ['changes', 'Changes', 'changes'], ['policies', 'Policies', 'policies'], ['ledger', 'Ledger', 'ledger'],
  ['usage', 'Usage', 'metrics'], ['storage', 'Storage', 'storage'], ['admin', 'Admin', 'admin']];
const OWN = ['', 'runs', 'approvals', 'changes', 'ledger', 'usage', 'storage']; // of one person's page
const NEEDS = { '': ['run', 'read'], runs: ['run', 'read'], sessions: ['run', 'read'], approvals: ['approve', 'read'], changes: ['read'], policies: ['run', 'read'], ledger: ['read'], usage: ['read', 'admin'], storage: ['files', 'run', 'read', 'vault'], admin: ['admin'] };
const here = v => ({ run: 'runs', overview: '', metrics: 'usage' })[v] ?? v;
const may = view => (NEEDS[here(view)] || []).some(can) && (!me.own || OWN.includes(here(view)));
const home = () => '#/' + (NAV.find(([k]) => k !== 'usage' && may(k)) || ['signin'])[0];
function address() {
  const [path, words] = location.hash.replace(/^#\/?/, '').split('?'), word = p => { try { return decodeURIComponent(p); } catch { return p; } };
  return { parts: path.split('/').map(word), q: Object.fromEntries(new URLSearchParams(words)) };
}
// Changes words of the address.
function ask(change, replace) {
  const { parts, q } = address(), to = '#/' + parts.map(encodeURIComponent).join('/') + query({ ...q, ...change });
  if (replace) { history.replaceState(null, '', to); draw(); } else location.hash = to;
}

// ---- drawing ----

// What happens again and again belongs to an element, and ends when that is no longer shown.
const timers = new Set();
function every(node, seconds, fn, gone = () => {}) { timers.add({ node, seconds, fn, gone, seen: false, at: 0 }); }
setInterval(() => {
  if (document.hidden) return;
  for (const t of timers) {
    t.at++;
    if (t.node.isConnected) {
      t.seen = true;
      if (t.at % t.seconds === 0) Promise.resolve().then(t.fn).then(() => unreachable(false), e => { if (e.status === 0) unreachable(true, e); });
    } else if (t.seen || t.at > 20) { timers.delete(t); t.gone(); }
  }
}, 1000);
function unreachable(is, e) {
  $('banner').hidden = !is;
  $('banner').textContent = is ? inert(told(e)) : '';
}
let toastTimer;
function say(text, bad) {
  clearTimeout(toastTimer);
  $('toast').className = bad ? 'toast bad' : 'toast';
  $('toast').textContent = inert(text);
  toastTimer = setTimeout(() => { $('toast').textContent = ''; }, bad ? 10000 : 5000);
}
// A person who types, chooses or is about to confirm is not disturbed.
const idle = () => !($('main').contains(document.activeElement) && document.activeElement.matches('input, select, textarea')) && !document.querySelector('[data-sure]');
let turn = 0, arrived = true, lastPath = '';
function title(text) { document.title = (waiting.size ? '(' + waiting.size + ') ' : '') + text + ' - cordon'; }
function count() { title($('main').querySelector('h1')?.textContent || 'cordon'); frame(); }
const missing = (name, e) => [head(name ? name[0].toUpperCase() + name.slice(1) : 'Overview'), h('section.card', h('div.empty', h('h2', e.status === 404 ? 'Not here' : 'This cannot be shown now'), h('p', told(e)),
  e.status === 404 ? h('a.btn', { href: '#/' + here(name) }, 'Back to the list') : button('Try again', () => draw())))];
// Replaces what is shown. What had the focus has it again; of two drawings the later one counts.
async function draw() {
  const mine = ++turn, { parts, q } = address(), name = token ? parts[0] : 'signin', view = views[name || 'overview'] || views.lost;
  document.body.classList.toggle('out-side', name === 'signin');
  if (arrived) $('main').setAttribute('aria-busy', 'true');
  let out;
  try {
    out = await (token && NEEDS[here(name)] && !may(name) ? views.lost : view)(q, ...parts.slice(1));
    unreachable(false);
  } catch (e) {
    if (mine !== turn) return;
    if (e.status === undefined) console.error(e);
    if (e.status === 0) { unreachable(true, e); setTimeout(() => { if (mine === turn) draw(); }, 3000); }
    out = missing(name, e);
  }
  if (mine !== turn) return;
  const at = document.activeElement, key = arrived && $('main').contains(at) ? undefined : at?.dataset?.key, caret = at?.matches('input[type=search]') ? at.selectionStart : null, y = scrollY;
  $('main').replaceChildren(...[out].flat(9).filter(x => !isNothing(x)));
  $('main').setAttribute('aria-busy', 'false');
  frame();
  title($('main').querySelector('h1')?.textContent || 'cordon');
  const again = key && [...document.querySelectorAll('[data-key]')].find(e => e.dataset.key === key);
  if (again) { again.focus({ preventScroll: true }); if (caret !== null && again.setSelectionRange) again.setSelectionRange(caret, caret); }
  if (arrived) { if (name === 'signin') $('token').focus(); else if (!again) $('main').querySelector('h1')?.focus({ preventScroll: true }); scrollTo(0, 0); } else scrollTo(0, y);
  arrived = false;
}
addEventListener('hashchange', () => {
  if (/^#(token|once)=/.test(location.hash)) { begin(); return; }
  if (address().parts[0] === 'signin' && token) { leave(''); return; }
  const path = location.hash.split('?')[0];
  arrived = path !== lastPath;
  lastPath = path;
  draw();
});

// ---- the frame: views, whose token, colours ----

function colours(to) {
  if (to === 'auto') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = to;
  try { localStorage.setItem('theme', to); } catch { /* a private window */ }
  frame();
}
function frame() {
  const now = here(address().parts[0]), theme = document.documentElement.dataset.theme || 'auto', at = document.activeElement, key = $('side').contains(at) ? at.dataset.key : undefined;
  const item = ([k, t, i]) => h('a', { href: '#/' + k, 'data-key': 'nav' + k, 'aria-current': now === k || k === 'runs' && now === 'sessions' ? 'page' : undefined }, icon(i), h('span', t),
    k === 'approvals' && waiting.size > 0 && h('span.count.hot', { 'aria-label': waiting.size + ' waiting' }, waiting.size));
  const list = token ? NAV.filter(([k]) => may(k)) : [], tenantViews = list.filter(([k]) => k !== 'admin'), admin = list.find(([k]) => k === 'admin');
  const pick = seg('Colours', theme, [['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']], colours);
  pick.classList.add('tiny');
  $('side').replaceChildren(h('a.brand', { href: home() }, icon('logo'), 'cordon'), h('nav', { 'aria-label': 'Views' }, tenantViews.map(item), admin && [tenantViews.length > 0 && h('div.rule'), item(admin)]),
    h('div.end', token && h('div', me.own ? h('div', h('b', 'Your boxes')) : [h('b', me.tenant || 'host'), me.person && ' as ' + me.person], !me.own && me.expires && h('div', 'until ' + dayOf(me.expires * 1000)), h('a', { href: '#/signin' }, 'Sign out'), ' · ',
      h('a', { href: '#', role: 'button', click: e => { e.preventDefault(); help(); } }, 'Keys ', h('kbd', '?'))), h('div.keep', pick)));
  const foot = list.length > 5 ? [...list.slice(0, 4), ['more', 'More', 'more']] : list;
  $('foot').replaceChildren(...foot.map(item));
  if (key) [...$('side').querySelectorAll('[data-key]')].find(e => e.dataset.key === key)?.focus();
}
const KEYS = [['j  k', 'next, previous row'], ['Enter', 'open it'], ['Esc', 'go up, leave a field'], ['/', 'search'], ['g then o r a c p l u s', 'go to a view by its first letter'], ['y  n', 'approvals: go to Yes, No; Enter answers'], ['w', 'approvals: the line that asks'],
  ['f', 'a run: follow its output'], ['t', 'light or dark'], ['?', 'these keys']];
function help() {
  $('help').replaceChildren(h('div.stack.wide', h('div.line', h('h2', { id: 'help-title' }, 'Keys'), h('span.grow'), button('Close', () => $('help').close(), 'small')),
    h('dl.kv', KEYS.map(([k, t]) => [h('dt', k.split('  ').map(x => [h('kbd', x), ' '])), h('dd', t)]))));
  $('help').showModal();
}

// ---- keys ----

function up() {
  const p = address().parts;
  if (p.length > 1) location.hash = '#/' + (p[0] === 'run' ? 'runs' : p.slice(0, -1).map(encodeURIComponent).join('/'));
}
function move(by) {
  const all = [...document.querySelectorAll('main td.cmd a, main .rows > a, main .pickable a, main .rec, main .grp > summary')].filter(x => !x.closest('details:not([open]) > :not(summary)'));
  const i = all.indexOf(document.activeElement), to = all[i < 0 ? 0 : Math.max(0, Math.min(all.length - 1, i + by))];
  to?.focus();
  to?.scrollIntoView({ block: 'nearest' });
}
const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const focusOn = id => { const e = $(id); e?.focus(); return !!e; };
const KEY = { '?': help, j: () => move(1), k: () => move(-1), t: () => colours(dark() ? 'light' : 'dark'), y: () => focusOn($('challenge') && !$('challenge').value ? 'challenge' : 'yes'), n: () => focusOn('no'), w: () => focusOn('why'),
  f: () => $('follow')?.click(), '/': () => { if (focusOn('find')) $('find').select(); } };
let wentG = 0;
addEventListener('keydown', e => {
  if (e.ctrlKey || e.altKey || e.metaKey || $('help').open || !token) return;
  const field = e.target.matches('input:not([type=checkbox], [type=radio]), select, textarea');
  if (e.key === 'Escape') { if (field) e.target.blur(); else up(); return; }
  if (field) return;
  if (Date.now() - wentG < 1200) {
    const to = NAV.find(([k, t]) => t[0].toLowerCase() === e.key && k !== 'admin' && may(k));
    wentG = 0;
    if (to) { location.hash = '#/' + to[0]; e.preventDefault(); }
  } else if (e.key === 'g') wentG = Date.now();
  else if (Object.hasOwn(KEY, e.key)) { e.preventDefault(); KEY[e.key](); }
});

// ---- the token, and what waits ----

// What waits, as it comes; again when the connection has ended.
async function follow() {
  const mine = token;
  waiting.clear();
  try {
    await events('/v1/approvals/events', (name, item) => {
      const view = here(address().parts[0]), shown = address().parts[1];
      if (mine !== token) return false;
      if (name === 'gone') waiting.delete(item.id);
      else { waiting.set(item.id, { ...item, seen: Date.now() }); $('news').textContent = inert('waits for an approval: ' + item.effect); }
      count();
      if (name === 'gone' && shown === item.id) say('It no longer waits', true);
      else if (['', 'approvals'].includes(view) && !(view && shown) && idle()) draw();
      return true;
    });
  } catch (e) { if (e.status && e.status !== 503) return; }
  if (mine === token && token) setTimeout(() => { if (mine === token) follow(); }, 3000);
}
// Takes a token: what it may see becomes the views. It is kept for this tab, so that a reload keeps it.
async function enter(text) {
  token = text;
  leftWhy = '';
  try { me = await api('GET', '/v1/token'); } catch (e) { if (token) leave(told(e)); return false; }
  if (!NAV.some(([k]) => may(k))) { leave('The token may see nothing of this page: it needs the scope run, read, approve, files, vault or admin'); return false; }
  try { sessionStorage.setItem('token', token); } catch { /* this window keeps nothing: until it is loaded again */ }
  if (can('approve') || can('read')) follow();
  return true;
}
function leave(why) {
  try { sessionStorage.removeItem('token'); } catch { /* it was not kept */ }
  token = '';
  me = { scopes: [] };
  leftWhy = why;
  waiting.clear();
  samples.clear();
  denials = { at: 0, list: [] };
  history.replaceState(null, '', '#/signin');
  lastPath = '#/signin';
  arrived = true;
  draw();
}
// A link may carry a token and a view behind '#': browsers do not send that part. It leaves the address bar at once.
async function begin() {
  let given = /^#(token|once)=([A-Za-z0-9_]+)(?:&view=([^&]*))?$/.exec(location.hash);
  let kept = '';
  try { kept = sessionStorage.getItem('token') || ''; } catch { /* a window that keeps nothing */ }
  if (given) history.replaceState(null, '', '#/' + (given[3] || ''));
  // The address of `cordon page` is good once: it is exchanged for a token of this tab.
  if (given && given[1] === 'once') {
    try { given = [0, 0, (await api('POST', '/v1/token', { once: given[2] })).token, given[3]]; } catch (e) { if (!kept) { leave(told(e)); return; } given = null; }
  }
  arrived = true;
  if (!given && !kept) { leave(''); return; }
  if (!await enter(given ? given[2] : kept)) return;
  if (given && !given[3] || !may(address().parts[0]) && address().parts[0] !== 'more') history.replaceState(null, '', home());
  lastPath = location.hash.split('?')[0];
  draw();
}
try { const t = localStorage.getItem('theme'); if (t === 'light' || t === 'dark') document.documentElement.dataset.theme = t; } catch { /* a private window */ }
$('skip').addEventListener('click', e => { e.preventDefault(); $('main').focus(); });
begin();
