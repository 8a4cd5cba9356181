/** Questions over loopback: what is believed as an answer, and when TCP is asked. */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, test } from 'node:test';
import { DnsProblem } from '../domain/dns/driver.ts';
import * as dns from '../domain/dns/message.ts';
import { ask, digestsIn } from './ask.ts';

const isCut = 0x0200;
/** An answer without records to a question; `rcode` tells one from another. */
function answerTo(question: Buffer, { flags = 0, rcode = 0, idPlus = 0 } = {}): Buffer {
  const bytes = Buffer.from(question.subarray(0, 12));
  bytes.writeUInt16BE((question.readUInt16BE(0) + idPlus) & 0xffff, 0);
  bytes.writeUInt16BE(0x8000 | flags | rcode, 2);
  bytes.fill(0, 4);
  return bytes;
}
type Answer = (question: Buffer, n: number) => Buffer | undefined;
const open: (Socket | Server)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
async function serve(
  udp: (question: Buffer, n: number) => Buffer | Buffer[] | undefined,
  tcp?: Answer,
): Promise<{ host: string; port: number }> {
  const socket = createSocket('udp4');
  open.push(socket);
  let n = 0;
  socket.on('message', (question, { port, address }) => {
    for (const answer of [udp(question, n++) ?? []].flat()) socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  if (tcp) {
    const server = createServer(connection =>
      connection.on('data', part => {
        const answer = tcp(part.subarray(2), 0);
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer?.length ?? 0);
        connection.end(Buffer.concat(answer ? [length, answer] : []));
      }),
    );
    open.push(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  return { host: '127.0.0.1', port };
}
const isAway = (error: unknown) => error instanceof DnsProblem && error.trouble === 'away';

test('whoever sends something else first takes nobody’s place', async () => {
  let asked = 0;
  const server = await serve(question => {
    asked++;
    return [answerTo(question, { idPlus: 1, rcode: 5 }), Buffer.from('?'), answerTo(question, { rcode: 3 })];
  });
  assert.equal((await ask(server, 'a.test', 1)).rcode, 3);
  assert.equal(asked, 1);
});

test('an answer to another question, or that nobody can read, is none: it is asked again with another number', async () => {
  const ids = new Set<number>();
  const server = await serve((question, n) => {
    ids.add(question.readUInt16BE(0));
    return [answerTo(question, { idPlus: 1, rcode: 5 }), Buffer.from('?'), answerTo(question, { rcode: 3 })][n];
  });
  assert.equal((await ask(server, 'a.test', 1)).rcode, 3);
  assert.equal(ids.size, 3);
});

test('an answer with the number of the question, to another name or type, is none', async () => {
  /** With what it says that it was asked. */
  const of = (question: Buffer, name: string, type: number) => {
    const answer = Buffer.concat([answerTo(question), dns.nameBytes(name), Buffer.from([0, type, 0, 1])]);
    answer.writeUInt16BE(1, 4);
    return answer;
  };
  const server = await serve(
    (question, n) => [of(question, 'b.test', 1), of(question, 'a.test', 28), of(question, 'A.test', 1)][n],
  );
  assert.deepEqual((await ask(server, 'a.Test.', 1)).question, { name: 'a.test', type: 1 });
  // nor is one that says of nothing that it is so
  await assert.rejects(ask(await serve(question => answerTo(question)), 'a.test', 1), isAway);
});

test('whoever says nothing three times is away', async () => {
  let n = 0;
  const server = await serve(() => void n++);
  await assert.rejects(ask(server, 'a.test', 1), isAway);
  assert.equal(n, 3);
});

test('an answer that was cut is asked for over TCP, and believed when it is to that question', async () => {
  const cut: Answer = question => answerTo(question, { flags: isCut, rcode: 5 });
  assert.equal((await ask(await serve(cut, question => answerTo(question, { rcode: 3 })), 'a.test', 1)).rcode, 3);
  await assert.rejects(ask(await serve(cut, question => answerTo(question, { idPlus: 1 })), 'a.test', 1), isAway);
  await assert.rejects(ask(await serve(cut), 'a.test', 1), isAway);
  // one that is whole is not asked for again
  assert.equal((await ask(await serve(question => answerTo(question, { rcode: 2 })), 'a.test', 1)).rcode, 2);
});

test('what the zone above has to say is read of the records of that type alone, and in one order', () => {
  const record = (type: number, hex: string) => ({ name: 'a', type, class: 1, ttl: 1, data: Buffer.from(hex, 'hex') });
  const answers = [record(59, 'ffff0d02bb'), record(59, '00010d02aa'), record(43, '00020d02cc'), record(59, '00010d02')];
  const message = { id: 1, rcode: 0, isCut: false, answers, authorities: [], signature: undefined };
  assert.deepEqual(digestsIn(message, 59), ['1 13 2 AA', '65535 13 2 BB']);
});
