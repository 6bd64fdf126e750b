// views.js - the views: each is a function of the address's words, and gives the elements to show. What the server does not tell is left out.
'use strict';

// ---- what is live ----

const samples = new Map(); // of live runs: the last figures of each, for its lines
const waiting = new Map(); // approvals that wait, by id, as the stream tells them
const waitOf = r => [...waiting.values()].find(a => a.job === r.id), untilOf = a => a.seen + a.expires_s * 1000;
const rid = id => '/v1/runs/' + encodeURIComponent(id);
// The figures since the last look, as rates. What this host does not count is absent.
function sample(r) {
  const now = performance.now(), had = samples.get(r.id), x = had || { cpu: [], net: [] }, dt = had ? (now - x.at) / 1000 : 0;
  if (had && dt > 0.5) {
    if (r.cpu_ns !== undefined) x.cpu.push(Math.max(0, (r.cpu_ns - x.lastCpu) / 1e9 / dt) || 0);
    if (r.net_bytes !== undefined) x.net.push(Math.max(0, (r.net_bytes - x.lastNet) / dt) || 0);
    for (const k of ['cpu', 'net']) if (x[k].length > 40) x[k].shift();
  }
  if (!had || dt > 0.5) Object.assign(x, { at: now, lastCpu: r.cpu_ns, lastNet: r.net_bytes });
  samples.set(r.id, x);
  return x;
}
const stop = r => can('run') && sure('Stop', 'Press again', async () => { await api('DELETE', rid(r.id)); say('Stopped'); draw(); }, 'small', { 'aria-label': 'Stop ' + cmd(r), 'data-key': 'stop' + r.id });
// The figures of a live run, and how they change: its processors, or where they are not counted its network.
function liveRow(r) {
  const counted = r.cpu_ns !== undefined, line = spark([], (counted ? 'processors' : 'network') + ' since this page looks'), c = h('span.small.soft.nowrap'), m = h('span.nowrap'), t = h('span.nowrap.soft');
  const update = x => {
    const f = sample(x), v = counted ? f.cpu : f.net;
    line.update(v);
    c.textContent = !v.length ? '' : counted ? v.at(-1).toFixed(1) + ' cpu' : bytes(v.at(-1)) + '/s';
    m.textContent = x.memory_peak === undefined ? '' : bytes(x.memory_peak);
    t.textContent = dur(Date.now() - x.created * 1000);
  };
  update(r);
  every(t, 1, () => { t.textContent = dur(Date.now() - r.created * 1000); });
  return { id: r.id, update, line, c, m, t, stop: stop(r) };
}
const liveKey = runs => runs.filter(r => r.state !== 'ended').map(r => r.id + r.state + !!waitOf(r)).join();
// Figures in place; another set of runs is another drawing.
function followRuns(node, rows, runs) {
  let key = liveKey(runs);
  every(node, 3, async () => {
    const now = await liveRuns();
    if (liveKey(now) !== key) { if (idle()) { key = liveKey(now); draw(); } return; }
    for (const x of rows) { const r = now.find(y => y.id === x.id); if (r) x.update(r); }
  });
  for (const id of samples.keys()) if (!runs.some(r => r.id === id && r.state === 'running')) samples.delete(id);
  return node;
}
// The newest 5000; the ledger has all.
async function allRuns() {
  const all = [];
  for (let before, i = 0; i < 5 && (can('run') || can('read')); i++) {
    const a = await api('GET', '/v1/runs' + query({ limit: 1000, before }));
    all.push(...a.runs);
    before = a.next;
    if (!before) break;
  }
  return all;
}
const liveRuns = async () => (await Promise.all(['running', 'queued'].map(state => api('GET', '/v1/runs' + query({ state, limit: 1000 }))))).flatMap(a => a.runs);
const redraw = (node, seconds) => { every(node, seconds, () => { if (idle()) draw(); }); return node; };
// What was denied lately. Each question about records is a record of its own: it is not asked often.
let denials = { at: 0, list: [] };
async function denied() {
  if (!can('read')) return [];
  if (Date.now() - denials.at > 30000) {
    const { records } = await api('GET', '/v1/ledger?last=400');
    denials = { at: Date.now(), list: records.filter(x => x.phase === 'denied' && !more(x).minor).reverse() };
  }
  return denials.list;
}
const maybe = (scopes, path, other) => scopes.some(can) ? api('GET', path) : Promise.resolve(other);
async function approvalList() {
  const a = await maybe(['approve', 'read'], '/v1/approvals', { approvals: [], grants: [], person: '' });
  waiting.clear();
  for (const x of a.approvals) waiting.set(x.id, { ...x, seen: Date.now() });
  count();
  return { ...a, approvals: [...waiting.values()].sort((x, y) => untilOf(x) - untilOf(y)) };
}
const approvalLine = (a, now) => h('a', { href: '#/approvals/' + a.id, 'aria-current': a.id === now ? 'true' : undefined, 'data-key': a.id, 'aria-label': 'read ' + a.effect }, ring(untilOf(a)),
  h('span.grow', h('code.cut', { title: a.effect }, a.effect), h('span.cut.small.soft', a.door)), a.risk === 'high' && tag('high risk', 'bad'));
const kinds = now => !me.own && h('div.seg', { role: 'group', 'aria-label': 'Kind' }, [['runs', 'Runs'], ['sessions', 'Sessions']].map(([k, t]) => h('button', { type: 'button', 'data-key': 'kind' + k,
  'aria-pressed': String(k === now), click: () => { location.hash = '#/' + k; } }, t)));
const starting = () => me.own ? 'cordon run -- echo hello' : STARTS + location.origin + '/v1/runs', isAgent = r => /^(agent|claude|codex|gemini|opencode|pi|qwen|aider|crush|goose)\b/.test(r.policy) || /^(claude|codex|gemini|opencode|pi|qwen|aider|crush|goose|agent)$/.test((r.argv[0] || '').split('/').at(-1));
const STARTS = 'curl -H "Authorization: Bearer $token" -d \'{"argv":["echo","hello"]}\' -H "Content-Type: application/json" ';

// What a state of the filter means.
const FILTERS = [['', 'All', () => true], ['running', 'Running', r => r.state === 'running'], ['queued', 'Queued', r => r.state === 'queued'], ['ended', 'Ended', r => r.state === 'ended'],
  ['failed', 'Failed', r => r.state === 'ended' && r.status !== 0], ['blocked', 'Blocked', r => r.denials > 0]];
const SORTS = { state: r => stateOf(r)[1], command: cmd, took: r => (r.ended || Date.now() / 1000) - r.created, blocked: r => r.denials || 0, began: undefined };
function sorted(runs, by) {
  const key = SORTS[by.replace('-', '')], list = key ? [...runs].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)) : [...runs].reverse();
  return by[0] === '-' ? list.reverse() : list;
}

const views = {
  async overview() {
    const [runs, wait, health, changes, lately] = await Promise.all([allRuns(), approvalList(), api('GET', '/v1/health'), maybe(['read'], '/v1/changes', []), denied()]);
    const live = runs.filter(r => r.state === 'running'), queued = runs.filter(r => r.state === 'queued'), ended = runs.filter(r => r.state === 'ended'), rows = live.slice(0, 12).map(liveRow);
    if (!runs.length && !lately.length) return [redraw(head('Overview'), 3), h('section.card', empty('Nothing has run yet', 'The first run appears here by itself. Start one:', starting()))];
    const tile = (href, name, big, sub) => h('a.card.tile.c3', { href, 'data-key': name }, h('h2.soft', name), h('div.big', big), h('div.small.soft.cut', sub));
    const failed = ended.filter(r => r.status !== 0).length, blocked = ended.filter(r => r.denials > 0).length, held = changes.filter(c => c.state === 'waiting');
    const runLine = (r, i) => h('div', pill(r, false), h('a.plain.grow', { href: runHref(r.id), 'data-key': r.id }, h('code.cut', cmd(r)), h('span.cut.small.soft', r.policy + (waitOf(r) ? ' · waits for a yes' : ''))),
      h('span.w9.hide-s', rows[i].line, rows[i].c), h('span.w9.num.small.hide-s', rows[i].m), h('span.w7.num.small', rows[i].t), h('span.hide-s', rows[i].stop));
    const well = health.status === 'ok', agent = me.own && (runs.find(isAgent) || runs[0]);
    return [followRuns(head('Overview'), rows, runs), agent && h('section.card', { id: 'last' }, h('div.in.line.flow', pill(agent), h('span.grow', h('code.cut', cmd(agent)), h('span.small.soft', (isAgent(agent) ? 'the last agent' : 'the last run') + ', in the box ' + agent.policy + ', ' + ago(agent.created * 1000))),
      agent.denials > 0 && h('span.tag.bad', st('block', 'blocked'), agent.denials), h('a.btn.main', { href: runHref(agent.id) }, 'Its story'))), h('div.grid',
      tile('#/runs?state=running', 'Running', live.length, plural(queued.length, 'run') + ' in the queue'),
      tile('#/approvals', 'Waits for a yes', waiting.size, waiting.size ? 'the next ends in ' + dur(untilOf(wait.approvals[0]) - Date.now()) : 'nothing'),
      tile('#/runs?state=blocked', 'Blocked', group(blocked), 'of the last ' + plural(ended.length, 'run')), tile('#/runs?state=failed', 'Failed', group(failed), 'of the last ' + plural(ended.length, 'run')),
      h('div.col.c8', wait.approvals.length > 0 && card('Waits for a yes', h('a', { href: '#/approvals' }, 'All'), h('div.rows', wait.approvals.slice(0, 6).map(a => approvalLine(a)))),
        card('Running now', h('a', { href: '#/runs?state=running' }, 'All runs'), live.length ? h('div.rows', live.slice(0, 12).map(runLine)) : empty('Nothing runs', 'The next run appears here by itself.'))),
      h('div.col.c4', lately.length > 0 && card('Blocked lately', h('a', { href: '#/ledger?kind=denied' }, 'All'), h('div.rows', lately.slice(0, 6).map(x => {
        const r = runs.find(y => y.run === x.run);
        return h('a', { href: r ? runHref(r.id) + '/blocked' : '#/ledger' + query({ q: x.run, record: x.id }) }, st('block'), h('span.grow', h('code.cut', nameOf(x)),
          h('span.cut.small.soft', [more(x).program, more(x).reason, ago(x.time / 1000)].filter(Boolean).join(' · '))), x.count > 1 && tag('× ' + x.count));
      }))), held.length > 0 && card('Changes that wait', h('a', { href: '#/changes' }, 'All'), h('div.rows', held.slice(0, 6).map(changeLine))),
      card('Health', h('span.pill', st(well ? 'ok' : 'limit'), well ? 'Well' : health.status), h('div.rows', h('div', st(well ? 'ok' : 'limit'), h('span.grow', 'Server'), h('span.soft', health.version))))))];
  },

  async runs(q) {
    const size = 50, page = Math.max(1, Number(q.page) || 1), [runs] = await Promise.all([allRuns(), approvalList()]), rows = [], by = q.sort || '-began';
    const words = (q.q || '').toLowerCase(), fits = r => (!q.policy || r.policy === q.policy) && [cmd(r), r.id, r.run || '', r.policy, r.person || '', ...Object.entries(r.labels || {}).map(l => l.join('=')), stateOf(r)[1]].some(t => t.toLowerCase().includes(words));
    const hit = runs.filter(fits), test = (FILTERS.find(([k]) => k === (q.state || '')) || FILTERS[0])[2], list = sorted(hit.filter(test), by), pages = Math.ceil(list.length / size);
    const policies = [...new Set(runs.map(r => r.policy))].sort();
    const sort = (k, name, cls = '') => {
      const on = by.replace('-', '') === k, up = on && by[0] !== '-';
      return h('th', { scope: 'col', class: cls, 'aria-sort': on ? (up ? 'ascending' : 'descending') : undefined }, h('button', { type: 'button', 'data-key': 'sort' + k,
        click: () => ask({ sort: on && !up ? k : '-' + k, page: '' }, true) }, name, on && icon(up ? 'up' : 'down')));
    };
    const line = r => {
      const x = r.state === 'running' ? liveRow(r) : undefined;
      if (x) rows.push(x);
      return row(runHref(r.id), [td('', 'nowrap', pill(r)), td('', 'cmd', h('a', { href: runHref(r.id), 'data-key': r.id }, h('code.cut', { title: cmd(r) }, cmd(r)), h('span.cut.small.soft', r.policy + (r.person && !r.person.startsWith('token:') ? ' · ' + r.person : '')))),
        td('', 'num nowrap', x ? x.t : r.wall_ns ? dur(r.wall_ns / 1e6) : r.ended ? (r.ended > r.created ? dur((r.ended - r.created) * 1000) : '< 1 s') : ''), td('', 'hide-m', x && h('span.line', x.line, x.c)), td('', 'num hide-m nowrap', x ? x.m : r.memory_peak > 0 && bytes(r.memory_peak)),
        td('', 'nowrap', r.denials > 0 && h('span.tag.bad', st('block', 'blocked'), r.denials)), td('', 'num nowrap soft hide-m', when(r.created * 1000)), td('', 'num hide-s', r.state === 'ended' ? '' : x ? x.stop : stop(r))]);
    };
    const shown = list.slice((page - 1) * size, page * size), heads = h('thead', h('tr', sort('state', 'State', 'k1'), sort('command', 'Command'), sort('took', 'Time', 'num k2'),
      h('th.hide-m.k3', { scope: 'col' }, 'Activity'), h('th.num.hide-m.k2', { scope: 'col' }, 'Memory'), sort('blocked', 'Blocked', 'k2'), sort('began', 'Began', 'num hide-m k2'), h('th.hide-s.k2', { scope: 'col' }, h('span.sr', 'Stop'))));
    const body = shown.length ? h('table.tbl.stackable.runs', { 'aria-label': 'Runs' }, heads, h('tbody', shown.map(line)))
      : runs.length ? h('div.empty', h('h2', 'No run fits'), h('p', 'None of the ' + plural(runs.length, 'run') + ' fits this search.'), h('a.btn', { href: '#/runs' }, 'Show all'))
        : empty('Nothing has run yet', 'Runs appear here by themselves. Start one:', starting());
    return [head('Runs', [kinds('runs')]), h('div.stack', h('div.line.flow', search('q', 'Search command, policy, person, label, state, id'), h('select.field', { 'aria-label': 'Policy', 'data-key': 'policy',
      change: e => ask({ policy: e.target.value, page: '' }) }, h('option', { value: '' }, 'Every policy'), policies.map(p => h('option', { value: p, selected: q.policy === p }, p)))),
    h('div.chips', { role: 'group', 'aria-label': 'State' }, FILTERS.map(([k, t, f]) => chip('state', k, t, hit.filter(f).length)))),
    followRuns(h('section.card', body), rows, runs),
    h('div.line', h('span.soft.small', { id: 'counted' }, list.length ? group((page - 1) * size + 1) + ' to ' + group(Math.min(page * size, list.length)) + ' of ' + plural(list.length, 'run') : ''), h('span.grow'),
      pages > 1 && [button('Newer', () => ask({ page: page > 2 ? page - 1 : '' }), 'small', { disabled: page < 2 }), h('span.small.soft', page + ' of ' + pages), button('Older', () => ask({ page: page + 1 }), 'small', { disabled: page >= pages })])];
  },

  async sessions() {
    const { sessions } = await api('GET', '/v1/sessions');
    const end = x => x.state !== 'ended' && can('run') && sure('End', 'Press again', async () => { await api('DELETE', '/v1/sessions/' + encodeURIComponent(x.id)); draw(); }, 'small', { 'aria-label': 'End ' + x.id, 'data-key': 'end' + x.id });
    return [redraw(head('Sessions', [kinds('sessions')]), 5), h('section.card', sessions.length ? table('Sessions', ['Session', 'State', 'Policy', ['Runs now', 'num'], ['Began', 'num'], ''], sessions.map(x => h('tr',
      td('', 'cmd', h('span.line', st(x.state === 'ended' ? 'stop' : x.state === 'up' ? 'run' : 'queue'), h('code.cut', x.id))), td('', '', x.state), td('', '', h('a', { href: '#/policies/' + x.policy }, x.policy)),
      td('runs', 'num', x.runs), td('', 'num soft', when(x.created * 1000)), td('', 'num', x.changes && h('a', { href: '#/changes/' + x.changes }, 'Changes'), ' ', end(x)))))
      : empty('No session is up', 'A session is a box that stays; runs name it.', 'POST /v1/sessions'))];
  },

  async run(q, id, part = '') {
    const [r, , held] = await Promise.all([api('GET', rid(id)), approvalList(), me.own ? api('GET', '/v1/changes') : []]), live = r.state !== 'ended', wait = waitOf(r);
    const records = can('read') && r.run ? (await api('GET', '/v1/ledger?last=1000&run=' + encodeURIComponent(r.run))).records.filter(x => x.kind !== 'view') : [];
    if (me.own) Object.assign(r, { blocked: deniedOf(records), changes: held.some(c => c.run === r.run) && r.run });
    const cells = [], cell = (name, value) => {
      const b = h('b'), update = x => { const v = value(x); b.replaceChildren(v === undefined ? '' : v); };
      if (value(r) === undefined) return '';
      cells.push(update);
      update(r);
      return h('div', h('span.small.soft', name), h('span', b));
    };
    const has = (v, f) => v === undefined ? undefined : f(v);
    const figures = h('div.limits', cell('Time', x => x.state === 'queued' ? undefined : dur(x.wall_ns ? x.wall_ns / 1e6 : Date.now() - x.created * 1000)), cell('Processor', x => has(x.cpu_ns, v => dur(v / 1e6))),
      cell('Most memory', x => has(x.memory_peak || undefined, bytes)), cell('Network', x => has(x.net_bytes, bytes)));
    if (live) every(figures, 2, async () => {
      const x = await api('GET', rid(id));
      if (x.state !== r.state || waitOf(x) !== wait) { if (idle()) draw(); } else cells.forEach(up => up(x));
    });
    const withRecords = (f, none) => can('read') ? records.length ? f() : h('section.card', empty(none)) : h('section.card', empty('Records are not for this token', 'They need the scope read.'));
    const { c: change, text } = r.changes && can('read') ? await changeOf(r.changes).catch(() => ({})) : {};
    const parts = { '': () => withRecords(() => story(r, records, change), 'No records yet'), output: () => me.own ? ownOutput(r) : output(r), blocked: () => blockedPart(r),
      changes: () => change ? changePart(change, text, q) : h('section.card', empty('No changes', 'This run has no edit door, or changed nothing.')),
      records: () => withRecords(() => h('section.card', recordList(records, q, records[0].time)), 'No records yet') };
    const first = can('read') ? '' : 'output', now = part || first;
    return [head(h('code', { class: 'title' }, cmd(r)), [live && stop(r), change && change.entries.length > 0 && part !== 'changes' && h('a.btn.main', { href: runHref(id) + '/changes' }, 'Review changes'),
      wait && can('approve') && h('a.btn.main', { href: '#/approvals/' + wait.id }, 'Answer what waits')], [h('a', { href: '#/runs' }, 'Runs'), ' / ', h('span.mono', id)]),
    h('div.line.flow.facts', pill(r), h('span.soft', me.own ? 'box ' : 'policy ', me.own ? r.policy : r.policy === 'request' ? 'of the request' : h('a', { href: '#/policies/' + encodeURIComponent(r.policy) }, r.policy), r.canary && ' v' + r.canary + ' (tried)'), h('span.soft', when(r.created * 1000)), r.person && h('span.soft', 'by ' + r.person), Object.entries(r.labels || {}).map(([k, v]) => tag(k + '=' + v)),
      r.start && h('span.soft', 'start: ' + r.start + (r.start_why ? ', ' + r.start_why : '')), r.run && h('span.soft', 'in the ledger ', h('code', r.run))),
    r.error && h('div.note.bad', st('fail'), h('div', h('b', r.error.message), r.error.hint && h('div', r.error.hint))), figures.childElementCount > 0 && h('section.card', { 'aria-label': 'Figures' }, figures),
    tabs('run/' + encodeURIComponent(id), part, [can('read') && ['', 'Story'], ['output', 'Output'], ['blocked', 'Blocked', r.denials], change && ['changes', 'Changes', change.entries.length], can('read') && ['records', 'Records', records.length]]),
    await (parts[now] || parts[first])()];
  },

  async approvals(q, id) {
    const { grants, person, approvals } = await approvalList(), now = id ? waiting.get(id) : undefined;
    const left = grants.length > 0 && card('Left in force', undefined, h('div.rows', grants.map(g => h('div', st('ok'), h('span.grow', h('code.cut', g.template.slice(0, 16)), h('span.small.soft.cut', 'run ' + g.run + ' · ' + (g.uses ? plural(g.uses, 'use') : dur(g.left_s * 1000)))),
      can('approve') && sure('Take back', 'Press again', async () => { await api('DELETE', '/v1/approvals/' + g.template); draw(); }, 'small', { 'aria-label': 'Take back ' + g.template.slice(0, 16) })))));
    const who = h('p.soft', approvals.length + ' waiting; ' + (can('approve') ? 'you answer as ' + person + '. A run is not approved by the person that asked for it.' : 'your token may not answer (scope approve).'));
    if (id && !now) return [head('Approvals'), h('section.card', h('div.empty', h('h2', 'It no longer waits'), h('p', 'It was answered, its time was over, or its run has ended.'), h('a.btn', { href: '#/approvals' }, 'What waits now'))), left];
    if (!approvals.length) return [head('Approvals'), h('section.card', empty('Nothing waits', 'When a run needs a yes it appears here, and in the title of this page.')), left];
    const list = h('section.card', h('div.pickable', { id: 'waiting' }, approvals.map(a => approvalLine(a, id))));
    if (!id) return [head('Approvals'), who, list, left];
    return [head('Approvals', [], h('a', { href: '#/approvals' }, 'All that waits')), h('div.split.deep', h('div.col', list, left), can('approve') ? approval(await api('GET', '/v1/approvals/' + id), now) : h('section.card', empty('Not for this token', 'To read one in full takes the scope approve.')))];
  },

  async changes(q, id) {
    if (id) {
      const { c, text } = await changeOf(id), list = await api('GET', '/v1/changes');
      return [head('Changes in ' + c.doors.map(d => d.host).join(', '), [], [h('a', { href: '#/changes' }, 'Changes'), ' / ', h('span.mono', id)]), changePart({ ...c, state: list.find(x => x.run === id)?.state }, text, q)];
    }
    const list = await api('GET', '/v1/changes');
    return [redraw(head('Changes'), 5), h('section.card', list.length ? h('div.rows', list.map(changeLine)) : empty('No changes wait', 'What a run changes behind an edit door stays here until a person applies it.'))];
  },

  async policies(q, name) {
    const { policies } = await api('GET', '/v1/policies');
    if (!policies.length) return [head('Policies'), h('section.card', empty('No policy is registered', 'A tenant has the policies that the operator gives it.'))];
    const wide = matchMedia('(min-width: 901px)').matches, now = name || (wide ? policies[0] : undefined), p = now && await api('GET', '/v1/policies/' + encodeURIComponent(now));
    return [head('Policies', [], name && h('a.show-s', { href: '#/policies' }, 'All policies')), h('div', { class: 'split' + (name ? ' deep' : '') }, h('section.card', h('div.pickable', policies.map(x => h('a', { href: '#/policies/' + encodeURIComponent(x),
      'aria-current': x === now ? 'true' : undefined, 'data-key': x }, icon('policies', 'soft'), h('b.grow', x))))), p && policy(p, q))];
  },

  async ledger(q) {
    // The words of a run's id are asked of the server as such; others are a part of a target.
    const text = (q.q || '').trim(), isRun = /^(r-)?[0-9a-f]+(-[0-9a-f]+){0,2}$/.test(text) && text.length > 16, run = q.run || (isRun ? text : ''), served = q.kind === 'denied' ? '' : q.kind;
    const [{ records }, runs] = await Promise.all([api('GET', '/v1/ledger' + query({ last: text || run || q.kind ? 1000 : 300, run, target: isRun ? '' : text, kind: served })), allRuns()]);
    const list = records.filter(x => x.kind !== 'view' && (q.kind !== 'denied' || x.phase === 'denied')).reverse(), groups = new Map(), show = Number(q.show) || 20;
    for (const x of list) groups.set(x.run, [...(groups.get(x.run) || []), x]);
    const verdict = h('div.line', { role: 'status' }, icon('ledger', 'soft'), h('span.soft', 'Every effect is a record; records are chained and sealed.'));
    const verify = async () => {
      const v = await api('GET', '/v1/ledger/verify');
      verdict.replaceChildren(st(v.ok ? 'ok' : 'fail'), h('span', h('b', v.ok ? 'Verified' : 'Does not fit'), h('span.soft', ' · ' + group(v.records) + ' records, ' + group(v.sealed) + ' sealed, ' + plural(v.checkpoints, 'checkpoint') + ', '
        + plural(v.unfinished_runs, 'unfinished run')), v.findings.map(f => h('div.bad', typeof f === 'string' ? f : JSON.stringify(f)))));
    };
    const part = ([id, of]) => {
      const r = runs.find(x => x.run === id), n = of.filter(x => x.phase === 'denied').length, open = !!(text || q.kind || run || q.record) || groups.size === 1;
      const d = h('details.grp', { open }, h('summary', { 'data-key': 'grp' + id }, icon('tri', 'tri'), r && pill(r, false), h('code.cut.grow', r ? cmd(r) : id), n > 0 && tag(n + ' blocked', 'bad'), h('span.small.soft.nowrap.hide-s', plural(of.length, 'record')),
        h('span.small.soft.nowrap', ago(of[0].time / 1000))));
      const fillIn = () => { if (d.open && d.childElementCount === 1) d.append(recordList([...of].reverse(), q, of.at(-1).time), r ? h('p.in.small', h('a', { href: runHref(r.id) }, 'Its run')) : ''); };
      d.addEventListener('toggle', fillIn);
      fillIn();
      return d;
    };
    return [head('Ledger', [button('Verify now', verify, '', { id: 'verify' })]), h('section.card', h('div.in', verdict)),
      h('div.stack', h('div.line.flow', search('q', 'Search a part of a target, or a run')), h('div.chips', { role: 'group', 'aria-label': 'Kind' }, [['', 'All'], ['denied', 'Blocked'], ['net', 'Network'], ['file', 'Files'], ['exec', 'Programs'], ['gate', 'Approvals'],
        ['output', 'Output']].map(([k, t]) => chip('kind', k, t)), q.run && h('button.chip', { type: 'button', 'aria-pressed': 'true', click: () => ask({ run: '' }) }, 'run ' + middle(q.run, 24) + ' ×'))),
      h('section.card', { id: 'records' }, groups.size ? [...groups].slice(0, show).map(part) : empty('No record fits', text || q.kind || run ? '' : 'Every effect of every run becomes a record here.')),
      h('div.line', h('span.small.soft', plural(list.length, 'record') + ' of ' + plural(groups.size, 'run')), h('span.grow'), groups.size > show && button('20 more runs', () => ask({ show: show + 20 }, true), 'small'))];
  },

  async admin(q, part = '') {
    const parts = { '': tenantsPart, pool: poolPart, audit: auditPart, tokens: tokensPart };
    return [head('Admin'), tabs('admin', part, [['', 'Tenants'], ['pool', 'Pool'], ['audit', 'Audit'], ['tokens', 'Tokens']]), await (parts[part] || tenantsPart)()];
  },

  async more() {
    const rest = NAV.filter(([k]) => may(k)).slice(4);
    return [head('More'), h('section.card', h('div.rows.more', rest.map(([k, t, i]) => h('a', { href: '#/' + k }, icon(i), t)), may('sessions') && h('a', { href: '#/sessions' }, icon('runs'), 'Sessions'), h('a', { href: '#/signin' }, icon('stop'), 'Sign out')))];
  },
  async signin() {
    const i = h('input.field', { type: 'password', id: 'token', autocomplete: 'off', required: true, 'data-key': 'token' });
    const enterIt = async e => {
      e.preventDefault();
      const text = i.value.trim();
      i.value = '';
      if (text && await enter(text)) location.hash = home();
    };
    return h('form.signin', { submit: enterIt }, h('h1', { tabindex: -1 }, 'Sign in to cordon'), leftWhy && h('p.note.bad', { id: 'why', role: 'alert' }, leftWhy), h('div.stack', h('label', { for: 'token' }, 'Token'), i,
      h('p.small.soft', 'It stays in this tab of the browser, and goes when you close it or sign out.')), h('button.btn.main', { type: 'submit' }, 'Sign in'),
    me.own || /cordon serve page/.test(leftWhy) ? h('div.stack', h('p.small.soft', 'Another address is one command away:'), copyable('cordon page')) : h('div.stack', h('p.small.soft', 'You have none? Whoever runs the server makes one:'), copyable('cordon serve token new --tenant NAME'), h('p.small.soft', 'An operator sees the tenants, the pool and audits:'), copyable('cordon serve token new --scopes admin')));
  },
  async lost() { return [head('Not here'), h('section.card', h('div.empty', h('h2', 'This address names nothing'), h('a.btn', { href: home() }, 'To the first view')))]; },
};

// As data, then as text: an overlay is read by one at a time.
async function changeOf(id) {
  const path = '/v1/changes/' + encodeURIComponent(id), c = await api('GET', path);
  return { c, text: await api('GET', path + '?form=text') };
}
const changeLine = c => h('a', { href: '#/changes/' + encodeURIComponent(c.run), 'data-key': c.run }, st(c.state === 'applied' ? 'ok' : 'wait', c.state), h('span.grow', h('b.cut', plural(c.entries, 'file') + ' in ' + c.host),
  h('span.small.soft.cut', c.state + ' · ' + ago(c.start * 1000))), c.flagged > 0 && tag(c.flagged + ' flagged', 'bad'));

// ---- one approval ----

function approval(a, item) {
  const i = a.item, high = i.risk === 'high', why = a.why, last = a.digest.slice(-4);
  const reason = h('input.field.grow', { id: 'reason', placeholder: 'Reason (for the record)', 'aria-label': 'Reason', 'data-key': 'reason' });
  const typed = h('input.field', { id: 'challenge', size: 6, maxlength: 4, autocomplete: 'off', placeholder: '4 digits', 'aria-label': 'Last 4 digits of the digest', 'data-key': 'challenge', input: () => { $('yes').disabled = typed.value.length < 4; } });
  const scope = h('select.field', { id: 'scope', 'aria-label': 'For how many', 'data-key': 'scope' }, [['', 'this one, once'], ['uses=5', '5 like it'], ['uses=' + a.scopes.uses_max, a.scopes.uses_max + ' like it'], ['for_s=600', 'like it, 10 min'],
    ['for_s=' + a.scopes.for_s_max, 'like it, ' + a.scopes.for_s_max / 60 + ' min']].map(([v, t]) => h('option', { value: v }, t)));
  const answer = async yes => {
    const b = { answer: yes ? 'yes' : 'no', digest: a.digest };
    if (reason.value) b.reason = reason.value;
    if (yes && high) b.challenge = typed.value;
    if (yes && scope.value) { const [k, n] = scope.value.split('='); b[k] = Number(n); }
    const { state, decoy } = await api('POST', '/v1/approvals/' + a.digest, b);
    waiting.delete(a.digest);
    count();
    location.hash = '#/approvals';
    say(decoy ? 'That was a decoy: nothing was sent' : state === 'pending' ? 'Counted: another person has to approve, too' : state + ': ' + i.effect);
  };
  const unusual = [high && ['limit', 'High risk: what is sent cannot be taken back, or costs.'], a.new && ['note', 'Nothing like it is among the last 50 approvals.'], !a.new && ['ok', 'Its like was seen and approved before.']].filter(Boolean);
  const text = h('div.bytes', { id: 'text', tabindex: 0, role: 'region', 'aria-label': 'The exact effect' }), loud = t => inert(t).split(/(\\u\{[0-9a-f]+\}|\\x[0-9a-f]{2})/).map(x => /^\\[ux]/.test(x) ? h('span.hl', x) : x);
  const envelope = () => kv(Object.entries(a.envelope).map(([k, v]) => [k, h('code', v)]));
  const pick = h('span');
  const show = k => { text.replaceChildren(...(k ? [envelope()] : loud(a.text))); pick.replaceChildren(seg('Form', k, [['', 'Text'], ['envelope', 'Envelope']], show)); };
  show('');
  return h('article.card', h('header', ring(untilOf(item), 52), h('div.grow', h('h2.verb.wrap', i.effect), h('div.small.soft.wrap', why.asked_by ? h('b', why.asked_by) : 'A session', ' asks', why.argv && [', in ', i.job || item.job ? h('a', { href: runHref(item.job) }, why.argv.join(' ')) : why.argv.join(' ')],
    why.policy && [', with ', h('a', { href: '#/policies/' + encodeURIComponent(why.policy) }, why.policy)])), high ? tag('high risk', 'bad') : tag('normal')),
  h('div.in.grid', h('div.c6.stack', h('h3', 'What is unusual'), h('ul.unusual', unusual.map(([k, t]) => h('li', st(k), h('span', t))))), h('div.c6.stack', h('h3', 'The line that asks'), h('code.wrap', { id: 'why', tabindex: -1 }, why.door))),
  h('header.sub', h('h3', 'Exactly this'), h('span.small.soft', 'about ' + Math.ceil(a.reading_ms / 1000) + ' s to read'), h('span.grow'), pick), text,
  h('p.in.small.soft.wrap', 'Needs ' + plural(i.need, 'person', 'persons') + (i.group ? ' of ' + i.group : '') + ', not the one who asks. Digest ', h('code', a.digest.slice(0, -4)), h('b.mono', last)),
  h('div.in.line.flow.tops', reason, scope), h('form.answer', { submit: e => e.preventDefault() }, high && h('label.line', h('span.grow', 'High risk: type the last 4 digits, ', h('b.mono', last)), typed),
    h('div.line', button('Yes', () => answer(true), 'main', { id: 'yes', disabled: high }), button('No', () => answer(false), 'no', { id: 'no' }), h('span.small.soft.hide-s', h('kbd', 'y'), ' ', h('kbd', 'n'), ' choose, ', h('kbd', 'Enter'), ' answers, ', h('kbd', 'w'), ' why it asks'))));
}

// ---- one policy ----

// Its doors in words, by their headings: a line at the margin begins a group, the lines below it are of it.
function doorGroups(text) {
  const groups = [], [doors, worst = ''] = text.split(/\n\nThe worst [^\n]*\n/);
  for (const l of doors.split('\n').slice(1)) {
    const m = /^([A-Z][^:]*): ?(.*)$/.exec(l);
    if (m) groups.push({ name: m[1], lines: m[2] ? [m[2]] : [] });
    else if (groups.length && l.trim()) groups.at(-1).lines.push(l.trim());
  }
  return { groups, worst: worst.split('\n').filter(l => l.startsWith('- ')).map(l => l.slice(2)) };
}
function policy(p, q) {
  const part = q.part || '', base = '#/policies/' + encodeURIComponent(p.name), path = '/v1/policies/' + encodeURIComponent(p.name), { groups, worst } = doorGroups(p.doors), canary = p.canary, withdrawn = p.withdrawn;
  const bar = h('nav.tabs', { 'aria-label': 'Parts' }, [['', 'Doors'], ['versions', 'Versions', p.versions.length], ['text', 'Text']].map(([k, t, n]) => h('a', { href: base + query({ part: k }), 'aria-current': part === k ? 'page' : undefined, 'data-key': 'tab' + k }, t, n > 0 && h('span.count', n))));
  const act = (text, what, body, done, cls = 'small', props = {}) => sure(text, 'Press again', async () => { await api('POST', path + '/' + what, body); say(done); draw(); }, cls, { disabled: !can('policy'), ...props });
  const trial = canary && h('section.card', h('div.in.line.flow', tag('v' + canary.version + ' is tried', 'acc'), h('span.grow.tri-bar', h('span.small.soft', canary.share + ' % of the runs; ' + plural(canary.bound, 'run') + ' that goes badly ends the trial'), meter(canary.share / 100, 'share of the runs', true)),
    act('Withdraw', 'rollback', {}, 'No run tries it any more', 'small', { id: 'withdraw' }), act('Use for all', 'promote', {}, 'All runs use it now', 'small main', { id: 'promote' })));
  const bad = withdrawn && h('div.note.warn', st('limit'), h('div.grow', h('b', 'v' + withdrawn.version + ' was withdrawn: '), withdrawn.why), act('End the trial', 'rollback', {}, 'The trial is over'));
  const stateOfVersion = v => v === p.version ? ['in use', 'good'] : canary && v === canary.version ? ['tried', 'acc'] : withdrawn && v === withdrawn.version ? ['withdrawn', 'bad'] : ['kept', ''];
  const parts = {
    '': () => [worst.length > 0 && h('section.card', h('header', h('h2', 'If everything in the box goes wrong')), h('div.in.two', h('ul', worst.map(t => h('li', st(/\b(nothing|cannot|can change nothing|Without)\b/.test(t) ? 'ok' : 'limit'), h('span', t)))))),
      h('section.card', groups.map(g => h('div.door', icon('open', 'st'), h('div', h('b', g.name), g.lines.length < 2 && [' ', h('span.soft', g.lines[0] || '')]), h('span'), g.lines.length > 1 && g.lines.map(l => h('code.sub.soft.wrap', l)))))],
    versions: () => h('section.card', p.versions.length ? table('Versions', ['Version', 'State', ''], [...p.versions].sort((a, b) => b - a).map(v => h('tr', td('', 'cmd', h('b', 'v' + v)), td('', '', tag(...stateOfVersion(v))),
      td('', 'num', stateOfVersion(v)[0] === 'kept' && act('Go back to it', 'rollback', { version: v }, 'Runs use v' + v + ' now', 'small', { 'aria-label': 'Go back to version ' + v, 'data-key': 'back' + v }))))) : empty('No versions', 'The operator wrote this policy by hand; PUT /v1/policies/' + p.name + ' makes versions.')),
    text: () => h('section.card', h('header', h('h2.grow', 'In words'), h('code.small.soft.cut', p.digest)), h('pre.bytes', { tabindex: 0 }, p.doors)),
  };
  return h('div.col', h('div.line', h('h2.verb', p.name), p.version > 0 && h('span.soft', 'v' + p.version + ' in use')), trial, bad, bar, (parts[part] || parts[''])());
}

// ---- what an operator watches ----

const figure = (name, v, most) => h('div', h('span.small.soft', name), h('span', h('b', group(v)), most !== undefined && h('span.soft', ' of ' + group(most))), most !== undefined && meter(v / most, name));
async function tenantsPart() {
  const a = await api('GET', '/v1/tenants'), quiet = a.all.filter(n => !a.tenants.some(t => t.name === n)), parked = t => t.pool === 'off' ? (t.share ? 'none' : 'none: shares with nobody') : t.pool === 'auto' ? 'as needed' : 'at most ' + t.pool.slice(5);
  return [redraw(h('div.grid', a.tenants.map(t => h('section.card.c6', { 'data-tenant': t.name }, h('header', h('h2.grow', t.name), h('span.line', !t.share && tag('shares with nobody'), tag('weight ' + t.weight))),
    h('div.limits', figure('Runs', t.running, t.running_most), figure('Queue', t.waiting, t.waiting_most), figure('Sessions', t.sessions, t.sessions_most), t.gpu_boxes_most > 0 && figure('Boxes with a GPU', t.gpu_boxes, t.gpu_boxes_most)),
    h('div.in.line.flow.soft.small.foots', h('span', group(t.started) + ' started'), h('span', group(t.failed) + ' failed'), h('span', group(t.denials) + ' blocked'), h('span', { class: t.rejected ? 'warn' : '' }, group(t.rejected) + ' turned away'), h('span', 'parked boxes: ' + parked(t)))))), 5),
  quiet.length > 0 && h('p.soft', { id: 'quiet' }, 'Without a request since the server started: ' + quiet.join(', ')), !a.all.length && h('section.card', empty('There is no tenant yet', '', 'cordon serve tenant new NAME'))];
}
async function poolPart() {
  const { plans, stats, why } = await api('GET', '/v1/pool'), share = p => p.hits + p.misses ? p.hits / (p.hits + p.misses) : undefined;
  if (!stats) return h('section.card', empty('No boxes are parked', why));
  const owner = p => { const m = /\/tenants\/([^/]+)\/policies\/([^/]+)\.cordon$/.exec(p); return m ? [m[1], m[2]] : ['', p]; };
  return [redraw(h('section.card', { id: 'pool' }, h('div.limits', figure('Parked', stats.parked, stats.most), figure('Being parked', stats.starting), figure('Runs that got one', stats.hits), figure('Runs that started cold', stats.misses))), 5),
    card('By plan', undefined, plans.length ? table('Parked boxes by plan', ['Policy', 'Tenant', ['Ready', 'num'], ['Hits', 'num'], ['Cold', 'num'], 'Hit share', ['Parked in', 'num'], ['Age', 'num'], ['Unused for', 'num'], ''], plans.map(p => {
      const [tenant, policy] = owner(p.policy), n = share(p);
      return h('tr', td('', 'cmd', h('b', policy)), td('', '', tenant), td('ready', 'num', p.ready + ' of ' + p.size), td('hits', 'num', group(p.hits)), td('cold', 'num', group(p.misses)), td('', '', n !== undefined && h('span.line.w16', meter(n, 'hit share', true), h('span.small', Math.round(n * 100) + ' %'))),
        td('parked in', 'num', p.park_us > 0 && (p.park_us / 1000).toFixed(1) + ' ms'), td('age', 'num', dur(p.age_s * 1000)), td('unused for', 'num', dur(p.unused_s * 1000)), td('', 'small ' + (p.error ? 'bad' : 'soft'), p.error || (p.automatic ? 'automatic' : 'by serve pool add')));
    })) : empty('No plan is parked', 'A plan that is seen twice in ten minutes gets boxes that wait ready; their number follows the demand.'))];
}
async function auditPart() {
  const { audits } = await api('GET', '/v1/audits'), last = audits.at(-1), before = audits.at(-2);
  if (!last) return h('section.card', empty('No audit is on record', 'Run one on this host:', 'cordon selftest audit'));
  const days = Math.floor((Date.now() - last.time / 1000) / 86400000), number = (x, g) => x ? parseInt(x.more[g], 10) || 0 : undefined, all = audits.map(x => Number(x.more.debt));
  const change = (now, then) => then === undefined ? '' : now === then ? 'same' : (now > then ? '+' : '') + (now - then);
  const groups = Object.keys(last.more).filter(g => typeof last.more[g] === 'string' && /^\d+( |$)/.test(last.more[g]) && !g.startsWith('incident')), open = g => last.more[g].split(' ').slice(1).map(x => x.replace('=', ' since ')).join(', ');
  return h('div.grid', h('section.card.c4.tile', h('h2.soft', 'Debt'), h('div.big', { id: 'debt' }, last.more.debt, before && h('span.soft.small', ' (' + change(last.more.debt, before.more.debt) + ')')), h('div.small.soft', last.result),
    h('div', { class: 'small ' + (days > 90 ? 'bad' : 'soft') }, dayOf(last.time / 1000) + (days > 1 ? ', ' + days + ' days ago' : '') + (days > 90 ? ': overdue' : '')), h('div.small.soft', last.more.incidents + ' incidents of a budget of ' + last.more['incident-budget'])),
  h('section.card.c8', h('header', h('h2', 'Trend')), h('div.in', lineOf(all, 'debt of ' + all.length + ' audits: ' + all.slice(-10).join(', ')))),
  card('What is open', undefined, table('Debt by group', ['Group', ['Debt', 'num'], ['Change', 'num'], 'Open'], groups.map(g => h('tr', td('', 'cmd', h('span.line', st(number(last, g) ? 'limit' : 'ok'), h('b', g))), td('debt', 'num', number(last, g)), td('', 'num', change(number(last, g), number(before, g))), td('', 'soft', open(g)))))),
  last.more.repairs && card('Cheapest repairs', undefined, h('pre.bytes', { id: 'repairs', tabindex: 0 }, last.more.repairs)),
  card('Past audits', undefined, table('Past audits', ['Time', ['Debt', 'num'], 'Open'], [...audits].reverse().map(x => h('tr', td('', 'cmd', when(x.time / 1000)), td('debt', 'num', x.more.debt), td('', 'soft', x.result))))));
}
