/** Updates of a zone by a real name server (Knot): signed, refused, side by side; and who sees what was put there. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import * as dns from '#server/domain/dns/message.ts';
import { Rfc2136, serverOf } from '#server/domain/dns/rfc2136.ts';
import { leadsTo, unseen, unseenAt } from '#server/domain/dns/seen.ts';
import { OutboundError } from '#server/kit/outbound.ts';
import { freePort } from '#server/store/engine-process.ts';
import { type Knot, startKnot } from '../../system/knot.ts';

const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
let knot: Knot;
let other: Knot;
before(async () => {
  const lines = ['_acme-challenge.moved CNAME proofs.elsewhere.test.', 'deep.er A 127.0.0.1'];
  [knot, other] = await Promise.all([
    startKnot({ zones: ['update.test', 'sub.update.test'], lines }),
    startKnot({ zones: ['update.test'] }),
  ]);
});
after(() => Promise.all([knot?.stop(), other?.stop()]));

const keyOf = (more: Partial<dns.Key> = {}): dns.Key => ({
  name: knot.key.name,
  algorithm: knot.key.algorithm,
  secret: Buffer.from(knot.key.secret, 'base64'),
  ...more,
});
const driver = (more: Partial<dns.Key> = {}, server = knot.address) => new Rfc2136(server, keyOf(more), { policy });
const isTrouble = (trouble: string, words: RegExp) => (error: unknown) =>
  error instanceof DnsProblem && error.trouble === trouble && words.test(error.message);

describe('a name server that takes updates', () => {
  test('says which zone each name lies in, the deepest; of other names nothing', async () => {
    const names = [
      'update.test',
      '_acme-challenge.update.test',
      'a.b.deep.er.update.test',
      'x.sub.update.test',
      'x.unknown.test',
    ];
    const found = await driver().zones(names);
    assert.deepEqual(
      names.map(name => found.get(name)?.name),
      ['update.test', 'update.test', 'update.test', 'sub.update.test', undefined],
    );
  });

  test('has a text once, however often it is put, beside another order’s; taking one away leaves the other', async () => {
    const zone = { name: 'update.test', id: '' };
    const name = '_acme-challenge.update.test';
    const mine = driver();
    await Promise.all([mine.put(zone, name, 'one'), driver().put(zone, name, 'two')]);
    await mine.put(zone, name, 'one');
    assert.deepEqual((await knot.texts(name)).toSorted(), ['one', 'two']);
    await Promise.all([mine.take(zone, name, 'one'), mine.take(zone, name, 'never there')]);
    assert.deepEqual(await knot.texts(name), ['two']);
    await mine.take(zone, name, 'one');
    await mine.take(zone, name, 'two');
    assert.deepEqual(await knot.texts(name), []);
  });

  test('a wrong key, an unknown one and another algorithm are told as credentials, a zone it does not have as refused', async () => {
    const zone = { name: 'update.test', id: '' };
    const put = (one: Rfc2136, name = 'a.update.test') => one.put(zone, name, 'x');
    await assert.rejects(put(driver({ secret: Buffer.alloc(32, 1) })), isTrouble('credentials', /BADSIG/));
    // newer ones say no more than NOTAUTH of a key that is not theirs
    const notTaken = (words: RegExp) => (error: unknown) =>
      isTrouble('credentials', words)(error) || isTrouble('refused', /NOTAUTH.*algorithm/)(error);
    await assert.rejects(put(driver({ name: 'nobody.test' })), notTaken(/nobody\.test.*BADKEY/));
    await assert.rejects(put(driver({ algorithm: 'hmacSHA512' })), notTaken(/BADKEY/));
    const long = `_acme-challenge.${'a.'.repeat(115)}update.test`;
    await assert.rejects(put(driver(), long), isTrouble('refused', /too long/));
    await assert.rejects(
      driver().put({ name: 'unknown.test', id: '' }, 'a.unknown.test', 'x'),
      isTrouble('refused', /NOTAUTH|REFUSED/),
    );
    assert.deepEqual(await knot.texts('a.update.test'), []);
  });

  test('one that is not there, and one whose address is not allowed, are told as such', async () => {
    await assert.rejects(driver({}, `127.0.0.1:${await freePort(12_000, 19_999)}`).zones(['update.test']), OutboundError);
    const strict = new AddressPolicy({ operator: [], environment: [], own: [] });
    await assert.rejects(
      new Rfc2136(knot.address, keyOf(), { policy: strict }).zones(['update.test']),
      (error: OutboundError) => error.problem === 'refused',
    );
  });

  test('a clock that is wrong by a day is told by how much', async () => {
    const { bytes, mac } = dns.signed(dns.soaQuery(7, 'update.test'), keyOf(), Date.now() - 86_400_000);
    const answer = await overTCP(knot.address, bytes);
    const message = dns.read(answer);
    const { error, serverSeconds } = dns.verified(answer, message, keyOf(), mac, Date.now());
    assert.equal(error, 18);
    assert.ok(Math.abs(serverSeconds! - Date.now() / 1000) < 60);
  });
});

describe('a name server that lies', () => {
  const answering = async (answer: (question: Buffer) => Buffer) => {
    const server = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', question => {
        const said = answer(question.subarray(2));
        const length = Buffer.alloc(2);
        length.writeUInt16BE(said.length);
        socket.end(Buffer.concat([length, said]));
      });
    });
    server.listen(await freePort(12_000, 19_999), '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    return { address: `127.0.0.1:${port}`, stop: () => server.close() };
  };
  const put = (address: string) => driver({}, address).put({ name: 'update.test', id: '' }, 'a.update.test', 'x');

  test('an answer without a signature, or with another key’s, changes nothing that is believed', async () => {
    const fine = (question: Buffer) => {
      const bare = Buffer.from(question.subarray(0, 12));
      bare.writeUInt16BE(0x8000 | (5 << 11), 2);
      bare.fill(0, 4);
      return bare;
    };
    const unsigned = await answering(fine);
    await assert.rejects(put(unsigned.address), isTrouble('credentials', /not signed/));
    const foreign = await answering(
      question => dns.signed(fine(question), keyOf({ secret: Buffer.alloc(32, 9) }), Date.now()).bytes,
    );
    await assert.rejects(put(foreign.address), isTrouble('credentials', /not signed/));
    unsigned.stop();
    foreign.stop();
  });

  test('one that answers byte by byte has no more time than one that is silent', async () => {
    const said = Buffer.alloc(200);
    said.writeUInt16BE(65_535);
    const server = createServer(socket => {
      let at = 0;
      const trickle = setInterval(() => (at < said.length ? socket.write(said.subarray(at, ++at)) : socket.end()), 50);
      socket.on('error', () => {}).on('close', () => clearInterval(trickle));
    });
    server.listen(await freePort(12_000, 19_999), '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const asking = new Rfc2136(`127.0.0.1:${port}`, keyOf(), { policy, timeoutMs: 2000 });
    await assert.rejects(
      asking.put({ name: 'update.test', id: '' }, 'a.update.test', 'x'),
      (error: OutboundError) => error.problem === 'timeout',
    );
    server.close();
  });

  test('names that lead to themselves, answers that end in their midst, and what is none are refused', async () => {
    const loop = Buffer.from('1234800000010000000000000c0c00060001'.replace('0c0c', 'c00c'), 'hex');
    assert.throws(() => dns.read(loop), dns.BadMessage);
    // a chain of pointers, each to the one before it, and a name that goes down all of it
    const chained = (hops: number) => {
      const header = Buffer.from('123480000000000200000000', 'hex');
      const chain = Buffer.alloc(1 + hops * 2);
      const start = header.length + 11;
      const at = (n: number) => (n === 0 ? start : start + n * 2 - 1);
      for (let n = 1; n <= hops; n++) chain.writeUInt16BE(0xc000 | at(n - 1), n * 2 - 1);
      const first = Buffer.concat([Buffer.from('0000100001000000000000', 'hex'), chain]);
      first.writeUInt16BE(chain.length, 9);
      const second = Buffer.from('000000100001000000000000', 'hex');
      second.writeUInt16BE(0xc000 | at(hops), 0);
      return Buffer.concat([header, first, second]);
    };
    assert.equal(dns.read(chained(100)).answers[1]!.name, '');
    assert.throws(() => dns.read(chained(200)), dns.BadMessage);
    const short = await answering(question => question.subarray(0, 5));
    await assert.rejects(put(short.address), isTrouble('refused', /ends in its midst/));
    const echo = await answering(question => question);
    await assert.rejects(put(echo.address), isTrouble('refused', /no answer/));
    short.stop();
    echo.stop();
  });
});

describe('who sees a record', () => {
  test('all that answer must have it; one that is silent does not count, unless nobody answers', async () => {
    const zone = { name: 'update.test', id: '' };
    const name = 'seen.update.test';
    const silent = `127.0.0.1:${await freePort(12_000, 19_999)}`;
    const mine = driver();
    await mine.put(zone, name, 'proof');
    assert.equal(await unseenAt([knot.address], name, 'proof'), undefined);
    assert.equal(await unseenAt([knot.address, silent], name, 'proof'), undefined);
    assert.match(
      (await unseenAt([knot.address, other.address], name, 'proof'))!,
      new RegExp(`${other.address} does not have it`),
    );
    assert.match((await unseenAt([knot.address], name, 'other proof'))!, /does not have it/);
    assert.match((await unseenAt([silent], name, 'proof'))!, /answers/);
    assert.equal(
      await unseenAt(
        Array.from({ length: 5 }, () => other.address),
        name,
        'proof',
      ),
      `${other.address}, ${other.address}, ${other.address} and 2 more do not have it`,
    );
    await mine.take(zone, name, 'proof');
    assert.match((await unseenAt([knot.address], name, 'proof'))!, /does not have it/);
  });

  test('a name that was delegated leads where its owner sent it', async () => {
    const looking = { policy, resolvers: [knot.address] };
    assert.equal(await leadsTo('_acme-challenge.moved.update.test', looking), 'proofs.elsewhere.test');
    assert.equal(await leadsTo('_acme-challenge.update.test', looking), '_acme-challenge.update.test');
  });

  test('the servers a zone names are asked, where they may be; resolvers of the environment instead of them', async () => {
    const name = 'named.update.test';
    await driver().put({ name: 'update.test', id: '' }, name, 'proof');
    // the zone’s own server is at 127.0.0.1
    const looking = { policy, resolvers: [], machine: [other.address], port: serverOf(knot.address).port };
    assert.equal(await unseen('update.test', name, 'proof', looking), undefined);
    const strict = new AddressPolicy({ operator: [], environment: [], own: [] });
    assert.match((await unseen('update.test', name, 'proof', { ...looking, policy: strict }))!, /nobody says/);
    assert.match((await unseen('unknown.test', 'a.unknown.test', 'proof', looking))!, /nobody says/);
    assert.match((await unseen('update.test', name, 'proof', { ...looking, resolvers: [other.address] }))!, /does not have it/);
  });
});

test('servers are written with and without a port', () => {
  assert.deepEqual(serverOf('ns.example.com'), { host: 'ns.example.com', port: 53 });
  assert.deepEqual(serverOf('192.0.2.1:5353'), { host: '192.0.2.1', port: 5353 });
  assert.deepEqual(serverOf('[2001:db8::1]:5353'), { host: '2001:db8::1', port: 5353 });
  assert.deepEqual(serverOf('2001:db8::1'), { host: '2001:db8::1', port: 53 });
});

async function overTCP(address: string, message: Buffer): Promise<Buffer> {
  const { connectOut } = await import('#server/kit/outbound.ts');
  const { host, port } = serverOf(address);
  const socket = await connectOut(host, port, { policy });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  socket.write(Buffer.concat([length, message]));
  const [part] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return part.subarray(2);
}
