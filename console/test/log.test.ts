import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessLogBody } from '#contract/analytics/shapes.ts';
import { causeOf, clockOf, curlOf, type LogLine, urlOf } from '../src/analytics/log-line.ts';
import { bodyOf, isFiltered, logStateOf, noFilters, pageSizeDefault, problemOf, searchOf } from '../src/analytics/log-query.ts';

const now = Date.parse('2026-11-20T08:00:00Z');
const line: LogLine = {
  time: '2026-11-20T07:59:59.048Z',
  siteID: 1,
  domainID: 2,
  nodeID: 3,
  domain: 'www.example.com',
  method: 'GET',
  uri: "/a?q=it's",
  protocol: 'HTTP/1.1',
  status: 200,
  bytes: 522,
  remoteIP: '192.0.2.1',
  cacheStatus: 'HIT',
  upstreamBytes: 0,
  upstreamTimeMs: 0,
  requestTimeMs: 1,
  referer: '',
  userAgent: 'Mozilla/5.0',
  reason: 0,
  ruleID: 0,
  requestID: 'mwqbntln-26713-890-1',
};

test('an empty address is the last hour without filters', () => {
  const state = logStateOf({});
  assert.deepEqual(
    [state.range, state.page, state.pageSize, state.isLive, isFiltered(state)],
    ['last1h', 1, pageSizeDefault, false, false],
  );
  assert.deepEqual(bodyOf(state, now), { startTime: '2026-11-20T07:00:00.000Z', endTime: '2026-11-20T08:00:00.000Z' });
  assert.deepEqual(searchOf(state), {});
});

test('a state survives its address', () => {
  const search = {
    range: 'custom',
    startTime: '2026-11-20T01:00:00.000Z',
    endTime: '2026-11-20T02:00:00.000Z',
    sites: [3, 5],
    domain: 'a.example, B.example',
    uri: '/x?y=1',
    ip: '2001:db8::1',
    status: '404',
    cache: '-',
    id: 'e-1-2-4',
    page: 4,
    pageSize: 500,
    live: true,
    request: 'e-1-2-3',
  };
  const state = logStateOf(search);
  assert.deepEqual(searchOf(state), search);
  assert.deepEqual(bodyOf(state, now), {
    startTime: '2026-11-20T01:00:00.000Z',
    endTime: '2026-11-20T02:00:00.000Z',
    siteIDs: [3, 5],
    domains: ['a.example', 'b.example'],
    uri: '/x?y=1',
    remoteIP: '2001:db8::1',
    status: 404,
    cacheStatus: '-',
    requestID: 'e-1-2-4',
  });
  for (const name of Object.keys(bodyOf(state, now))) assert.ok(name in accessLogBody, name);
  assert.ok(isFiltered(state));
  assert.equal(isFiltered({ ...state, ...noFilters }), false);
});

test('what cannot be trusted of an address is left out', () => {
  const state = logStateOf({
    range: 'always',
    sites: ['x', -1, 7],
    cache: 'NO',
    page: -3,
    pageSize: 7,
    live: 'yes',
    status: 404,
  });
  assert.deepEqual(
    [state.range, state.sites, state.cache, state.page, state.pageSize, state.isLive, state.status],
    ['last1h', [7], '', 1, pageSizeDefault, false, '404'],
  );
});

test('nothing is asked that the server would refuse', () => {
  const custom = (startTime: string, endTime: string) => problemOf(logStateOf({ range: 'custom', startTime, endTime }), now);
  assert.deepEqual(custom('', ''), { field: 'range' });
  assert.equal(custom('2026-11-20T07:00:00Z', '2026-11-20T06:00:00Z')?.rule?.rule, 'startAfterEnd');
  assert.equal(custom('2026-11-18T07:00:00Z', '2026-11-20T06:00:00Z')?.rule?.rule, 'spanTooLong');
  assert.equal(custom('2026-11-20T07:00:00Z', '2026-11-20T09:00:00Z')?.rule?.rule, 'endInFuture');
  assert.equal(custom('2026-11-19T07:00:00Z', '2026-11-20T07:00:00Z'), undefined);
  assert.equal(problemOf(logStateOf({ range: 'last24h' }), now), undefined);
  assert.deepEqual(problemOf(logStateOf({ ip: '300.1.1.1' }), now), { field: 'ip' });
  assert.equal(problemOf(logStateOf({ ip: '::1' }), now), undefined);
  assert.deepEqual(problemOf(logStateOf({ status: '2x' }), now), { field: 'status' });
  assert.equal(problemOf(logStateOf({ status: '2XX' }), now), undefined);
  assert.equal(bodyOf(logStateOf({ status: '2XX' }), now).status, 2, 'a class');
  assert.equal(problemOf(logStateOf({ status: 903 }), now), undefined);
});

test('a line as curl is quoted for a shell', () => {
  assert.equal(curlOf(line), `curl -i 'http://www.example.com/a?q=it'\\''s' -H 'User-Agent: Mozilla/5.0'`);
  assert.equal(curlOf({ ...line, method: 'HEAD', uri: '/', userAgent: '-' }), `curl -I 'http://www.example.com/'`);
  const post = curlOf({ ...line, method: 'POST', uri: '/', protocol: 'HTTP/2.0', referer: 'https://x/' });
  assert.equal(post, `curl -i -X POST 'https://www.example.com/' -H 'User-Agent: Mozilla/5.0' -H 'Referer: https://x/'`);
  assert.match(curlOf({ ...line, method: 'A;rm -rf' }), /-X 'A;rm -rf'/);
  assert.equal(urlOf({ ...line, uri: '*' }), 'http://www.example.com/*');
});

test('causes have names, also one that only a newer node knows', () => {
  assert.equal(causeOf({ reason: 0 }), undefined);
  assert.equal(causeOf({ reason: 11 }), 'waf');
  assert.equal(causeOf({ reason: 200 }), '200');
});

test('the clock of a line goes down to milliseconds', () => {
  assert.match(clockOf(line.time), /^\d\d:59:59\.048$/);
});
