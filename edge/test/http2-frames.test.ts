/** HTTP/2 as frames, where a client of Node would keep the rules by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { shownFor } from './certificates.ts';
import { domain, freePort, site, standing, until } from './harness.ts';

const tls = await freePort();
const shown = shownFor(['a.test']);
const { edge, origin } = await standing(port => ({ sites: [site(1)], domains: [domain(1, 'a.test', [port], shown.domain)] }), {
  httpsPorts: [tls],
});
await edge.put(...shown.records);

const kinds = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8 } as const;
const codes = { none: 0, flowControl: 3 } as const;
const endStream = 1;
const mostWindow = 2 ** 31 - 1;

function frame(kind: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}
const word = (number: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
};
/** Literals that nobody remembers (RFC 7541, 6.2.2). */
const fields = (...pairs: [string, string][]) =>
  Buffer.concat(
    pairs.flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  );

interface Frame {
  kind: number;
  flags: number;
  stream: number;
  body: Buffer;
}
/** A connection on which stream 1 asks for a page, and says that more of it comes. */
async function open(path: string) {
  const socket = await new Promise<TLSSocket>((done, fail) => {
    const made = connect({ host: '127.0.0.1', port: tls, servername: 'a.test', ca: shown.ca.root, ALPNProtocols: ['h2'] }, () =>
      done(made),
    );
    made.on('error', fail);
  });
  const seen: Frame[] = [];
  let bytes = Buffer.alloc(0);
  socket.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3);
      seen.push({ kind: bytes[3]!, flags: bytes[4]!, stream: bytes.readUInt32BE(5), body: bytes.subarray(9, end) });
      bytes = bytes.subarray(end);
    }
  });
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(kinds.settings, 0, 0, Buffer.alloc(0))]));
  const asked: [string, string][] = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', path],
    [':authority', 'a.test'],
  ];
  socket.write(frame(kinds.headers, 4, 1, fields(...asked)));
  return {
    socket,
    seen,
    /** Twice what one window may be. */
    overflow: () => socket.write(Buffer.concat([1, 2].map(() => frame(kinds.windowUpdate, 0, 1, word(mostWindow))))),
    reset: () => until('the stream is reset', () => seen.find(one => one.kind === kinds.reset && one.stream === 1)),
  };
}

test('a window of a stream beyond 2^31-1 is an error of flow control as long as the stream is open', async () => {
  let release = () => {};
  origin.script = (_, response) => {
    release = () => void response.end('late');
  };
  const { socket, overflow, reset } = await open('/held');
  await until('the origin is asked', () => origin.seen.length === 1);
  overflow();
  assert.equal((await reset()).body.readUInt32BE(), codes.flowControl);
  release();
  socket.destroy();
});

test('a page that is answered does not wait for the end of what was asked: its stream is closed without an error, and what comes for it later is passed over', async () => {
  origin.script = (_, response) => response.end('now');
  const { socket, seen, overflow, reset } = await open('/now');
  await until('it is answered', () => seen.some(one => one.kind === kinds.data && one.flags & endStream));
  assert.equal((await reset()).body.readUInt32BE(), codes.none, 'RFC 9113, 8.1');
  overflow();
  socket.write(frame(kinds.ping, 0, 0, Buffer.from('are you?')));
  await until('the connection goes on', () => seen.some(one => one.kind === kinds.ping && one.flags === 1));
  assert.equal(seen.filter(one => one.kind === kinds.reset).length, 1);
  socket.destroy();
});
