import assert from 'node:assert/strict';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { siteApplied } from '#server/bus/settle.ts';
import { Plane, origin, until } from './node.ts';

test('a change in the database is served by nginx, acknowledged, without a reload', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const [one, two] = [await origin(t, 'one'), await origin(t, 'two')];
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', one);
  const node = await plane.node(t, zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'one');
  assert.equal(await node.visit('unknown.test'), 903);
  const applied = await until('acknowledged', async () => {
    const found = (await siteApplied(rig.pool, siteID))!;
    return found.applied === 1 && found;
  });
  assert.equal(applied.nodes, 1);
  await until('the heartbeat', async () => (await rig.one<string>('select status from node')) === 'normal');
  const master = node.nginx();
  await rig.setOrigin(domainID, two);
  await until('the new origin', async () => (await node.visit('a.test')) === 'two');
  assert.equal(node.nginx(), master);
  await until('acknowledged', async () => (await siteApplied(rig.pool, siteID))!.applied === 1);
  await rig.change([`domain ${domainID}`], ['update domain set "deletedAt" = now() where id = $1', [domainID]]);
  await until('gone', async () => (await node.visit('a.test')) === 903);
});

test('a token is exchanged before it ends; the node stays in step', async t => {
  const plane = await Plane.start(t, { tokenSeconds: 9 });
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const [one, two] = [await origin(t, 'one'), await origin(t, 'two')];
  const domainID = await rig.domain(await rig.site(productID, 'a'), 'a.test', '127.0.0.1', one);
  const node = await plane.node(t, zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const ends = () => {
    const { grant } = JSON.parse(readFileSync(join(node.data, 'identity.json'), 'utf8')) as { grant: { jwt: string } };
    return (JSON.parse(Buffer.from(grant.jwt.split('.')[1]!, 'base64url').toString('utf8')) as { exp: number }).exp * 1000;
  };
  const first = ends();
  await until('another token', () => ends() > first);
  await until('the first is over', () => Date.now() > first);
  await rig.setOrigin(domainID, two);
  await until('still in step', async () => (await node.visit('a.test')) === 'two');
  assert.doesNotMatch(node.log, /refuse/);
});

test('after a start of the machine nginx writes to a log file of its own: the end of the old one may be lost', async t => {
  const plane = await Plane.start(t);
  const { zoneID, productID } = await plane.rig.zone('one');
  await plane.rig.domain(await plane.rig.site(productID, 'a'), 'a.test', '127.0.0.1', await origin(t, 'one'));
  const node = await plane.node(t, zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const active = () => readlinkSync(join(node.data, 'log', 'access.log'));
  const first = active();
  await node.end();
  node.start();
  await until('up again', async () => (await node.visit('a.test')) === 'one');
  assert.equal(active(), first, 'the machine ran on');
  await node.end();
  const file = join(node.data, 'run', 'nginx.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), boot: 'another' }));
  node.start();
  await until('up again', async () => (await node.visit('a.test')) === 'one');
  assert.notEqual(active(), first);
});
