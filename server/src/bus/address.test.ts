import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toldURL } from './address.ts';

test('nodes are told the address that was set, with the port of the bus unless it names one', () => {
  const bus = 'tls://localhost:20123';
  assert.equal(toldURL(bus, undefined), bus);
  assert.equal(toldURL(bus, 'bus.example.com'), 'tls://bus.example.com:20123');
  assert.equal(toldURL(bus, '192.0.2.7:4222'), 'tls://192.0.2.7:4222');
  assert.equal(toldURL(bus, '[2001:db8::1]:4222'), 'tls://[2001:db8::1]:4222');
  assert.equal(toldURL('tls://a.test,tls://b.test', 'c.test'), 'tls://c.test:4222');
});

test('what is no address of a machine is refused with what to write', () => {
  for (const wrong of [
    'tls://bus.test',
    'bus.test:0',
    'bus.test:70000',
    'a b',
    '2001:db8::1',
    'bus.test/x',
    '0.0.0.0',
    '[::]',
    'u@bus.test',
  ])
    assert.throws(() => toldURL('tls://localhost:1', wrong), /BREAKWATER_BUS_ADDRESS/, wrong);
});
