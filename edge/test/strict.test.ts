/** Requests that two readers could understand differently are refused, whatever stands in the cache, and leave nothing behind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, type SecureClientSessionOptions } from 'node:http2';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { shownFor } from './certificates.ts';
import { type Edge, type Origin, domain, freePort, raw, site, startEdge, startOrigin } from './harness.ts';

describe('malformed requests', () => {
  let edge: Edge;
  let origin: Origin;
  let next = 0;
  before(async () => {
    [edge, origin] = await Promise.all([freePort().then(port => startEdge({ workers: 1, httpsPorts: [port] })), startOrigin()]);
    await edge.putDocuments(
      [site(1), site(2, { userAgents: [{ id: 1, urlRegex: '.*', userAgentRegex: '.*', block: 'deny' }] })],
      [
        domain(1, 'a.test', [origin.port]),
        domain(2, 'off.test', [origin.port], { enabled: false }),
        domain(3, 'deaf.test', []),
        domain(4, 'guarded.test', [origin.port], { site: 2 }),
      ],
    );
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  /** What follows on the connection: it must never be answered, nor reach the origin. */
  const second = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
  const get = (lines: string) => (path: string) => `GET ${path} HTTP/1.1\r\n${lines}\r\n\r\n`;
  const field = (line: string) => get(`Host: a.test\r\n${line}`);
  const post = (lines: string, body: string) => (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a.test\r\n${lines}\r\n\r\n${body}`;
  const chunked = (body: string) => post('Transfer-Encoding: chunked', body);

  const bad: Record<string, (path: string) => string> = {
    'name: parenthesis': field('Bad(name): x'),
    'name: at': field('Bad@: x'),
    'name: space': field('Bad Name: x'),
    'name: umlaut': field('B\xe4d: x'),
    'name: quotes': field('"q": x'),
    'name: slash': field('X/Y: x'),
    'name: brackets': field('X[0]: x'),
    'name: braces': field('{x}: x'),
    'name: backslash': field('X\\Y: x'),
    'name: comma': field('X,Y: x'),
    'name: control': field('X\x01: x'),
    'name: NUL': field('X\0Y: x'),
    'name: DEL': field('X\x7f: x'),
    'name: empty': field(': x'),
    'name: first line': get('Bad(name): x\r\nHost: a.test'),
    'name: between': field('X-A: 1\r\nBad(name): x\r\nX-B: 2'),
    'two User-Agent lines': field('User-Agent: good\r\nUser-Agent: evil'),
    'two User-Agent lines, the same': field('User-Agent: x\r\nX: y\r\nUser-Agent: x'),
    'two User-Agent lines, spelt and empty': get('user-agent: x\r\nHost: a.test\r\nUSER-AGENT:'),
    'two User-Agent lines with a body': post('User-Agent: x\r\nContent-Length: 3\r\nUser-Agent: y', 'x=y'),
    'two User-Agent lines among many': field(
      `User-Agent: x\r\n${Array.from({ length: 80 }, (_, i) => `X-${i}: ${i}`).join('\r\n')}\r\nUser-Agent: y`,
    ),
    'no colon: last': field('nonsense'),
    'no colon: first': get('nonsense\r\nHost: a.test'),
    'no colon: between': field('X-A: 1\r\nnonsense\r\nX-B: 2'),
    'no colon: spaces': field('nonsense with spaces'),
    'no colon: another request line': field('GET /other HTTP/1.1'),
    'space before colon': field('X : y'),
    'tab before colon': field('X\t: y'),
    'space before colon of Host': get('Host : a.test'),
    'space before colon of Content-Length': field('Content-Length : 4'),
    'space before colon of Transfer-Encoding': field('Transfer-Encoding : chunked'),
    'folded by space': field('X: a\r\n b'),
    'folded by tab': field('X: a\r\n\tb'),
    'folded Host': get('Host: a.test\r\n .evil.test'),
    'folded first line': get(' Host: a.test\r\nHost: a.test'),
    'CR in a value': field('X: a\rb'),
    'CR in a name': field('X\rY: a'),
    'CR CR LF ends an empty field': field('X:\r'),
    'CR CR LF ends an empty field with a blank': field('X: \r'),
    'CR CR LF behind a blank': field('X: y \r'),
    'CR CR CR LF': field('X: y\r\r'),
    'CR CR LF ends the request line': path => `GET ${path} HTTP/1.1\r\r\nHost: a.test\r\n\r\n`,
    'CR CR LF ends the header': path => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\r\n`,
    'LF ends every line': path => `GET ${path} HTTP/1.1\nHost: a.test\n\n`,
    'LF ends the request line': path => `GET ${path} HTTP/1.1\nHost: a.test\r\n\r\n`,
    'LF ends one field': field('X: a\nY: b'),
    'LF ends the first field': get('Host: a.test\nY: b'),
    'LF ends the last field': path => `GET ${path} HTTP/1.1\r\nHost: a.test\n\r\n`,
    'LF ends the header': path => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\n`,
    'LF LF ends the header': path => `GET ${path} HTTP/1.1\r\nHost: a.test\n\n`,
    'NUL in a value': field('X: a\0b'),
    'NUL in the target': path => `GET ${path}\0 HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'control in a value': field('X: a\x01b'),
    'escape in a value': field('X: \x1b[31m'),
    'DEL in a value': field('X: a\x7fb'),
    'Content-Length twice': field('Content-Length: 0\r\nContent-Length: 0'),
    'Content-Length twice, different': post('Content-Length: 4\r\nContent-Length: 0', 'x=yz'),
    'Content-Length list': post('Content-Length: 4, 4', 'x=yz'),
    'Content-Length +4': post('Content-Length: +4', 'x=yz'),
    'Content-Length -1': post('Content-Length: -1', 'x=yz'),
    'Content-Length 0x4': post('Content-Length: 0x4', 'x=yz'),
    'Content-Length 4e0': post('Content-Length: 4e0', 'x=yz'),
    'Content-Length "4 4"': post('Content-Length: 4 4', 'x=yz'),
    'Content-Length empty': post('Content-Length:', ''),
    'Content-Length beyond reason': post('Content-Length: 99999999999999999999', 'x'),
    'Content-Length and Transfer-Encoding': post('Content-Length: 4\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    'Transfer-Encoding and Content-Length': post('Transfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n'),
    'Transfer-Encoding twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    'Transfer-Encoding twice, different': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'),
    'Transfer-Encoding in HTTP/1.0': path =>
      `POST ${path} HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'userinfo in Host': get('Host: evil@a.test'),
    'userinfo and password in Host': get('Host: u:p@a.test'),
    'two Hosts': get('Host: a.test\r\nHost: a.test'),
    'two Hosts, different': get('Host: a.test\r\nHost: b.test'),
    'two Hosts, letter case': get('Host: a.test\r\nhOST: b.test'),
    'no Host': get('X: y'),
    'port that is no number': get('Host: a.test:x'),
    'port with a sign': get('Host: a.test:+80'),
    'port 0': get('Host: a.test:0'),
    'port 65536': get('Host: a.test:65536'),
    'port 800000': get('Host: a.test:800000'),
    'two ports': get('Host: a.test:80:80'),
    'Host with a path': get('Host: a.test/x'),
    'Host with a query': get('Host: a.test?x'),
    'Host with a fragment': get('Host: a.test#x'),
    'Host list': get('Host: a.test, b.test'),
    'Host with a space': get('Host: a.test b.test'),
    'Host with a tab': get('Host: a.test\tb.test'),
    'Host with a backslash': get('Host: a.test\\b.test'),
    'Host with a quote': get('Host: a.test"><script>'),
    'Host with a percent': get('Host: a%2etest'),
    'Host with an umlaut': get('Host: \xe4.test'),
    'Host with half a bracket': get('Host: [::1'),
    'Host with two dots': get('Host: a..test'),
    'ftp target': path => `GET ftp://a.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'file target': path => `GET file://a.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'gopher target': path => `GET gopher://a.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target with userinfo': path => `GET http://u@a.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target with another host': path => `GET http://b.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target with another port': path => `GET http://a.test:81${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target with a bad port': path => `GET http://a.test:x${path} HTTP/1.1\r\nHost: a.test:x\r\n\r\n`,
    'target without slash': path => `GET ${path.slice(1)} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target *': () => 'GET * HTTP/1.1\r\nHost: a.test\r\n\r\n',
    'target with a fragment': path => `GET ${path}#x HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'target with a space': path => `GET ${path} x HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'two spaces before the version': path => `GET ${path}  HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'two spaces before the target': path => `GET  ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'space after the version': path => `GET ${path} HTTP/1.1 \r\nHost: a.test\r\n\r\n`,
    'tab in the request line': path => `GET\t${path}\tHTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'version 1.10': path => `GET ${path} HTTP/1.10\r\nHost: a.test\r\n\r\n`,
    'version in small letters': path => `GET ${path} http/1.1\r\nHost: a.test\r\n\r\n`,
    'method in small letters': path => `get ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'chunk size: no hex': chunked('g\r\nx=y\r\n0\r\n\r\n'),
    'chunk size: 0x': chunked('0x3\r\nx=y\r\n0\r\n\r\n'),
    'chunk size: sign': chunked('+3\r\nx=y\r\n0\r\n\r\n'),
    'chunk size: negative': chunked('-3\r\nx=y\r\n0\r\n\r\n'),
    'chunk size: empty': chunked('\r\nx=y\r\n0\r\n\r\n'),
    'chunk size: too big': chunked('fffffffffffffffff\r\nx=y\r\n0\r\n\r\n'),
    'chunk longer than its size': chunked('3\r\nx=yz\r\n0\r\n\r\n'),
    'chunk shorter than its size': chunked('5\r\nx=y\r\n0\r\n\r\n'),
  };
  for (const coding of [
    'xchunked',
    'chunked, chunked',
    'identity',
    'identity, chunked',
    'gzip, chunked',
    'chunked;q=1',
    '"chunked"',
    'chunked\t',
    '\x0bchunked',
    'chunkedx',
    'cow',
  ]) {
    bad[`Transfer-Encoding ${JSON.stringify(coding)}`] = post(`Transfer-Encoding: ${coding}`, '0\r\n\r\n');
  }

  for (const [what, text] of Object.entries(bad)) {
    test(`400: ${what}`, async () => {
      for (const stored of [false, true]) {
        const path = `/bad${next++}`;
        if (stored) await edge.ask('a.test', path);
        const seen = origin.seen.length;
        const answer = await raw(edge.port, text(path) + second);
        assert.deepEqual([answer.statuses, answer.closed], [[400], true]);
        // A body whose fault shows late may have begun to arrive; the request must not have ended well.
        if (!what.startsWith('chunk')) assert.equal(origin.seen.length, seen);
        assert.ok(origin.seen.every(one => one.url !== '/smuggled'));
        const clean = await edge.ask('a.test', path);
        assert.deepEqual([clean.status, clean.headers['x-cache']], [200, stored ? 'HIT' : 'MISS']);
      }
    });
  }

  const good: Record<string, (path: string) => string> = {
    plain: get('Host: a.test'),
    'no space after the colon': get('Host:a.test\r\nX:y'),
    'several spaces after the colon': get('Host:   a.test\r\nX:   y'),
    'tab after the colon': get('Host: a.test\r\nX:\ty'),
    'spaces at the end of a value': get('Host: a.test\r\nX: y   \r\nZ: z  '),
    'empty values': get('Host: a.test\r\nX:\r\nY: '),
    'every character a name may have': get("Host: a.test\r\n!#$%&'*+-.^_`|~09azAZ: x"),
    'bytes above 127 in a value': get('Host: a.test\r\nX: \xe4\xff'),
    'a User-Agent': get('Host: a.test\r\nUSER-agent: x (y)\r\nX-User-Agent: z\r\nUser-Agents: z'),
    'a User-Agent and a length': post('User-Agent: x\r\nContent-Length: 3', 'x=y'),
    'Host with a port': get('Host: a.test:80'),
    'Host with a long port': get('Host: a.test:65535'),
    'Host with an empty port': get('Host: a.test:'),
    'Host in capitals, last': get('X: y\r\nHOST: A.TEST'),
    'a hundred fields': get(`Host: a.test\r\n${Array.from({ length: 100 }, (_, i) => `X-${i}: ${i}`).join('\r\n')}`),
    'more than the first buffer': get(`Host: a.test\r\nCookie: ${'c'.repeat(3000)}\r\nX: y`),
    'more than one large buffer': get(`Host: a.test\r\nCookie: ${'c'.repeat(12_000)}\r\nX: ${'x'.repeat(12_000)}\r\nY: y`),
    'absolute form': path => `GET http://a.test${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'absolute form, capitals': path => `GET HTTP://A.TEST${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'an empty line before it': path => `\r\nGET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'HTTP/1.0': path => `GET ${path} HTTP/1.0\r\nHost: a.test\r\n\r\n`,
    'a long target': path => `GET ${path}?${'q'.repeat(9000)} HTTP/1.1\r\nHost: a.test\r\n\r\n`,
    'a length': post('Content-Length: 3', 'x=y'),
    chunks: chunked('3\r\nx=y\r\n0\r\n\r\n'),
    'chunks, coding in capitals': post('Transfer-Encoding: CHUNKED', '3\r\nx=y\r\n0\r\n\r\n'),
    'chunks, capital digits, leading zeros': chunked('0A\r\n0123456789\r\n000\r\n\r\n'),
  };
  for (const [what, text] of Object.entries(good)) {
    test(`served: ${what}`, async () => {
      const closing = text(`/good${next++}`).replace(/\r\n\r\n/, '\r\nConnection: close\r\n\r\n');
      const alone = what === 'an empty line before it' ? closing.replace('\r\nGET', '\r\nGET') : closing;
      const answer = await raw(edge.port, alone);
      assert.deepEqual(answer.statuses, [200]);
    });
  }

  // nginx writes over the first byte behind a value, so these two look as a blank does that is allowed there.
  test('CR CR LF behind a value, and LF behind a blank, reach the origin as the end of a line', async () => {
    for (const end of ['\r\r\n', ' \n']) {
      const path = `/end${next++}`;
      const text = `GET ${path} HTTP/1.1\r\nHost: a.test\r\nX: y${end}Z: z\r\nConnection: close\r\n\r\n`;
      assert.deepEqual((await raw(edge.port, text)).statuses, [200]);
      const [one] = origin.seen.filter(seen => seen.url === path);
      assert.deepEqual([one!.headers['x'], one!.headers['z']], ['y', 'z']);
    }
  });

  const refusals: Record<string, [string, number]> = {
    'an unknown host': ['nobody.test', 903],
    'a disabled domain': ['off.test', 904],
    'a deaf origin': ['deaf.test', 502],
    'a protection': ['guarded.test', 403],
  };
  for (const [what, [host, status]] of Object.entries(refusals)) {
    test(`the body of a request that is refused is not read as the next one: ${what}`, async () => {
      for (const framing of [
        `Content-Length: ${second.length}\r\n\r\n${second}`,
        `Transfer-Encoding: chunked\r\n\r\n${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`,
      ]) {
        const after = 'GET /after HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n';
        const { statuses, closed } = await raw(edge.port, `POST /x HTTP/1.1\r\nHost: ${host}\r\n${framing}${after}`);
        // Either it goes on behind the body, or not at all.
        assert.deepEqual([closed, statuses], [true, statuses.length === 1 ? [status] : [status, 200]]);
        assert.ok(origin.seen.every(one => one.url !== '/smuggled'));
      }
    });
  }

  test('two User-Agent fields in HTTP/2 are refused', async () => {
    // Node 24 knows the option, its types do not yet.
    const options: SecureClientSessionOptions & { strictSingleValueFields: boolean } = {
      rejectUnauthorized: false,
      servername: 'shown.test',
      strictSingleValueFields: false,
    };
    const shown = shownFor(['shown.test']);
    await edge.put(...shown.records);
    await edge.putDocuments([], [domain(92, 'shown.test', [origin.port], shown.domain)]);
    const connection = connectHttp2(`https://127.0.0.1:${edge.config.httpsPorts[0]}`, options);
    try {
      const status = async (agents: string[]) => {
        const path = `/h2-${next++}`;
        const stream = connection.request({
          ':path': path,
          ':authority': 'shown.test',
          'user-agent': agents as unknown as string,
        });
        stream.end();
        const [headers] = await once(stream, 'response');
        stream.resume();
        return headers[':status'];
      };
      assert.equal(await status(['good']), 200);
      assert.equal(await status(['good', 'evil']), 400);
    } finally {
      connection.destroy();
    }
  });

  test('requests one after the other on one connection, in any pieces, are each judged by themselves', async () => {
    const texts = [get('Host: a.test\r\nX: y')('/one'), post('Content-Length: 3', 'x=y')('/two'), get('Host: a.test')('/three')];
    const all = texts.join('') + get('Host: a.test\r\nBad(name): x')('/four') + second;
    const text = await new Promise<string>(resolve => {
      let got = '';
      const socket = connect(edge.port, '127.0.0.1', async () => {
        for (const byte of all.match(/[^]{1,7}/g)!) {
          if (socket.destroyed) return;
          socket.write(Buffer.from(byte, 'latin1'));
          await new Promise(done => setImmediate(done));
        }
      });
      socket.on('data', piece => {
        got += String(piece);
        if (/HTTP\/1\.1 400[^]*<\/h1>/.test(got)) socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(got));
    });
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(match => match[1]),
      ['200', '200', '200', '400'],
    );
    assert.ok(origin.seen.every(one => one.url !== '/smuggled'));
  });

  test('a refused request has an id of its own, in the answer and in the log', async () => {
    const path = `/refused${next++}`;
    const answer = await raw(edge.port, field('Bad(name): x')(path));
    const id = /^x-request-id: (\S+)/im.exec(answer.text)![1]!;
    assert.match(id, /^[0-9a-f]{24}$/);
    const [line] = await edge.log(1, one => one[5] === path);
    assert.deepEqual([line![7], line![17]], ['400', id]);
  });
});
