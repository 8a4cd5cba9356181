/** Where names lead, at a resolver of a test's own: what counts as nothing, as an answer that says nothing, and as none. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import * as dns from '../domain/dns/message.ts';
import { stateOf } from './check-cname.ts';
import { seenOf } from './seen.ts';

type Said = { name: string; type: number; data: Buffer };
const cname = (name: string, to: string): Said => ({ name, type: dns.types.CNAME, data: dns.nameBytes(to) });
const a = (name: string, address: string): Said => ({ name, type: dns.types.A, data: dns.addressData(address) });
const told: Said[] = [
  cname('www.leads.test', 'one.leads.test'),
  cname('one.leads.test', 'two.leads.test'),
  a('two.leads.test', '192.0.2.1'),
  cname('round.leads.test', 'about.leads.test'),
  cname('about.leads.test', 'round.leads.test'),
  a('a-name-of-the-wildcard.any.leads.test', '192.0.2.2'),
  ...Array.from({ length: 12 }, (_, i) => cname(`${i}.long.leads.test`, `${i + 1}.long.leads.test`)),
];
const rcodes: Readonly<Record<string, number>> = { 'none.leads.test': 3, 'fails.leads.test': 2, 'refuses.leads.test': 5 };

const socket = createSocket('udp4');
let resolver: string[];
before(async () => {
  socket.on('message', (question: Buffer, { port, address }) => {
    let at = 12;
    const labels: string[] = [];
    for (; question[at]; at += 1 + question[at]!) labels.push(question.toString('latin1', at + 1, at + 1 + question[at]!));
    const name = labels.join('.').toLowerCase();
    const type = question.readUInt16BE(at + 1);
    const answers = told.filter(one => one.name === name && one.type === type);
    const head = Buffer.from(question.subarray(0, at + 5));
    head.writeUInt16BE(0x8180 | (rcodes[name] ?? 0), 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const records = answers.map(({ data }) => {
      const fixed = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, data.length]);
      return Buffer.concat([fixed, data]);
    });
    socket.send(Buffer.concat([head, ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  resolver = [`127.0.0.1:${socket.address().port}`];
});
after(() => socket.close());
const see = (name: string) => seenOf(name, resolver, new AbortController().signal);

test('a chain is followed to its end, in order; one that comes round, or goes on for ever, ends', async () => {
  assert.deepEqual(await see('WWW.leads.test'), {
    through: ['one.leads.test', 'two.leads.test'],
    addresses: ['192.0.2.1'],
    nameServers: [],
  });
  assert.deepEqual(await see('round.leads.test'), {
    through: ['about.leads.test', 'round.leads.test'],
    addresses: [],
    nameServers: [],
  });
  const long = await see('0.long.leads.test');
  assert.ok(typeof long !== 'string' && long.through.length === 8, JSON.stringify(long));
});

test('a wildcard is asked for by a name below it', async () => {
  assert.deepEqual(await see('*.any.leads.test'), { through: [], addresses: ['192.0.2.2'], nameServers: [] });
});

test('a name that is not there leads nowhere; of one that cannot be found out nothing is known', async () => {
  const nowhere = { through: [], addresses: [], nameServers: [] };
  assert.deepEqual([await see('none.leads.test'), await see('empty.leads.test')], [nowhere, nowhere]);
  assert.deepEqual([await see('fails.leads.test'), await see('refuses.leads.test')], ['failed', 'failed']);
});

test('addresses lead here when each is known, in whatever spelling, and there is no chain beside them', () => {
  const own = { targets: ['key.cdn.test'], addresses: ['192.0.2.1', '2001:db8::1'] };
  const state = (through: string[], ...addresses: string[]) => stateOf(own, { through, addresses, nameServers: [] });
  assert.equal(state([], '192.0.2.1', '2001:DB8:0:0::1'), 'active');
  assert.equal(state([], '192.0.2.1', '192.0.2.9'), 'wrong');
  assert.equal(state(['else.test'], '192.0.2.1'), 'wrong');
  assert.equal(state(['else.test', 'key.cdn.test'], '192.0.2.9'), 'active');
  assert.equal(state([]), 'unset');
});
