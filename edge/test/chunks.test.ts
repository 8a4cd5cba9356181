/**
 * Chunked bodies. nginx reads their framing itself and forgives much; what it took for the body it frames anew. So nothing malformed
 * may reach an origin, and where a body ends must be the same for everybody behind us.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Edge, domain, freePort, raw, site, startEdge } from './harness.ts';

/** An origin that takes nothing but framing as RFC 9112 writes it, without extensions and trailers. */
const requestForm =
  /^(?<line>[A-Z]+ (?<url>\S+) HTTP\/1\.1)\r\n(?<fields>(?:[!#$%&'*+.^_`|~\w-]+: [\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n/;

/** → what the first request of `bytes` is, `undefined` while it is not whole, "malformed" when it can be none */
function strictly(bytes: string): { url: string; fields: string; body: string; length: number } | 'malformed' | undefined {
  const head = requestForm.exec(bytes);
  if (!head) return bytes.includes('\r\n\r\n') || /[^\r]\n/.test(bytes) ? 'malformed' : undefined;
  const { url, fields } = head.groups as { url: string; fields: string };
  let at = head[0].length;
  const length = /^content-length: (\d+)\r$/im.exec(fields)?.[1];
  if (!/^transfer-encoding:/im.test(fields)) {
    const end = at + Number(length ?? 0);
    return bytes.length < end ? undefined : { url, fields, body: bytes.slice(at, end), length: end };
  }
  if (length !== undefined || !/^transfer-encoding: chunked\r$/im.test(fields)) return 'malformed';
  for (let body = ''; ;) {
    const line = bytes.slice(at, at + 20);
    const size = /^([0-9a-f]{1,8})\r\n/i.exec(line);
    if (!size) return /^[0-9a-f]{0,8}\r?$/i.test(line) ? undefined : 'malformed';
    const bytesOf = Number.parseInt(size[1]!, 16);
    at += size[0].length;
    if (bytes.length < at + bytesOf + 2) return undefined;
    body += bytes.slice(at, at + bytesOf);
    at += bytesOf;
    if (bytes.slice(at, at + 2) !== '\r\n') return 'malformed';
    at += 2;
    if (bytesOf === 0) return { url, fields, body, length: at };
  }
}

describe('chunked bodies', () => {
  let edge: Edge;
  let next = 0;
  /** What has arrived on each connection */
  const arrived: string[] = [];
  const whole: Exclude<ReturnType<typeof strictly>, string | undefined>[] = [];
  const malformed: string[] = [];
  const origin = createServer(socket => {
    const mine = arrived.push('') - 1;
    let from = 0;
    socket.on('data', piece => {
      arrived[mine] += piece.toString('latin1');
      for (;;) {
        const one = strictly(arrived[mine]!.slice(from));
        if (one === 'malformed') {
          malformed.push(arrived[mine]!.slice(from));
          return void socket.destroy();
        }
        if (!one) return;
        from += one.length;
        whole.push(one);
        if (one.url.startsWith('/early')) socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n');
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok');
      }
    });
    socket.on('error', () => {});
  });
  before(async () => {
    const port = await freePort();
    origin.listen(port, '127.0.0.1');
    await once(origin, 'listening');
    edge = await startEdge({ workers: 1 });
    await edge.putDocuments([site(1)], [domain(1, 'a.test', [port]), domain(2, 'b.test', [port])]);
    // From now on phases/fetch.lua asks this host for that URL: it reads such bodies from the disk.
    const learn =
      'POST /early HTTP/1.1\r\nHost: b.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n';
    for (let i = 0; i < 2; i++) await raw(edge.port, learn);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    origin.close();
  });

  const inside = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
  const hex = (text: string) => text.length.toString(16);
  /** Body as it is sent → what it is taken for: that, or nothing whole arrives. */
  const forms: Record<string, [sent: string, taken: string]> = {
    'an extension': ['3;a=b\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension without a name': ['3;\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension of control characters': ['3;\x01\x1b\x7f\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension with NUL': ['3;a\0b\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension with CR': ['3;a\rb\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension with a quote that does not end': ['3;a="\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension that ends with LF': ['3;a\nx=y\r\n0\r\n\r\n', 'x=y'],
    'an extension with LF, and a size behind it': [`3;a\nx=y\r\n${hex(inside)}\r\n${inside}\r\n0\r\n\r\n`, `x=y${inside}`],
    'an extension of the last chunk': ['3\r\nx=y\r\n0;a=b\r\n\r\n', 'x=y'],
    'an extension of the last chunk that ends with LF': ['3\r\nx=y\r\n0;a\n\r\n', 'x=y'],
    'blanks behind the size': ['3 \t \r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'a word behind the size': ['3 x\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'LF behind the size': ['3\nx=y\r\n0\r\n\r\n', 'x=y'],
    'LF behind the data': ['3\r\nx=y\n0\r\n\r\n', 'x=y'],
    'LF everywhere': ['3\nx=y\n0\n\n', 'x=y'],
    'LF behind the last chunk': ['3\r\nx=y\r\n0\n\r\n', 'x=y'],
    'LF at the end': ['3\r\nx=y\r\n0\r\n\n', 'x=y'],
    'CR CR LF behind the size': ['3\r\r\nx=y\r\n0\r\n\r\n', 'x=y'],
    'CR CR LF behind the data': ['3\r\nx=y\r\r\n0\r\n\r\n', 'x=y'],
    'CR behind the size': ['3\rx=y\r\n0\r\n\r\n', 'x=y'],
    'CR behind the data': ['3\r\nx=y\r0\r\n\r\n', 'x=y'],
    'trailer fields': ['3\r\nx=y\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n', 'x=y'],
    'a trailer that ends with LF': ['3\r\nx=y\r\n0\r\nX: y\n\n', 'x=y'],
    'a trailer that is no field': ['3\r\nx=y\r\n0\r\nGET /smuggled HTTP/1.1\r\n\r\n', 'x=y'],
    'a request as data': [`${hex(inside)}\r\n${inside}\r\n0\r\n\r\n`, inside],
    'framing as data': ['5\r\n0\r\n\r\n\r\n0\r\n\r\n', '0\r\n\r\n'],
  };
  test('an origin that is strict takes none of these forms as they are sent', () => {
    const head = 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (const [what, [sent, taken]] of Object.entries(forms)) {
      const one = strictly(head + sent + inside);
      if (what.endsWith('as data')) assert.equal(typeof one === 'object' && one.body, taken);
      else assert.equal(one, 'malformed', what);
    }
  });

  for (const [what, [sent, taken]] of Object.entries(forms)) {
    test(`framed anew, or refused: ${what}`, async () => {
      for (const [host, path] of [
        ['a.test', `/chunks${(next += 1)}`],
        ['b.test', '/early'],
      ]) {
        const was = whole.length;
        const { statuses, text } = await raw(
          edge.port,
          `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n${sent}` +
            'GET /behind HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n',
        );
        assert.deepEqual(malformed, [], `${what}: the origin was sent something malformed`);
        const came = whole.slice(was).map(one => [one.url, one.body]);
        if (statuses[0] === 200) {
          assert.deepEqual(came.slice(0, 1), [[path, taken]], text);
          // What stood behind it is the next request, whole, or was not read at all.
          assert.ok(came.length === 1 || (came.length === 2 && came[1]![0] === '/behind'), JSON.stringify(came));
        } else {
          assert.deepEqual([statuses, came], [[400], []], text);
        }
        // Neither extensions nor trailers go on.
        for (const one of whole.slice(was)) assert.doesNotMatch(one.fields, /^(?:trailer|x): /im);
        // The other host's URL really went by the disk.
        if (came[0]?.[0] === '/early') assert.match(whole[was]!.fields, /^content-length: /im);
      }
    });
  }
});
