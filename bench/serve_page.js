// serve_page.js - for `bench/serve-load page`: a list of `boxes` runs that change with each look, and the longest task of the page so far.
let looks = 0, longest = 0;
new PerformanceObserver(l => { for (const e of l.getEntries()) longest = Math.max(longest, e.duration); }).observe({ type: 'longtask', buffered: true });
const real = fetch;
window.fetch = (path, o) => {
  if (path !== '/v1/runs') return real(path, o);
  looks++;
  const runs = Array.from({ length: boxes }, (_, i) => ({ id: 'r-' + i, argv: ['python3', '-c', 'work(' + i + ')'], policy: 'plain', state: 'running', created: 1760000000 + i,
    cpu_ns: looks * 1e9 * (i % 7), memory_peak: 1e6 * (i % 50 + looks), net_bytes: looks * 1000 * i }));
  return Promise.resolve(new Response(JSON.stringify({ runs }), { headers: { 'Content-Type': 'application/json' } }));
};
