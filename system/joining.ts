/** What tests of a second machine do on the first: it is open to others, makes lines, and brings nodes another version. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, poll } from '#server/store/engine-process.ts';
import type { SecondMachine } from './second-machine.ts';
import { accepted } from './stand.ts';
import { Whole } from './whole.ts';

/** The first machine, reached by the second with TLS, with the bundle of that folder. */
export const openTo = async ({ ours }: SecondMachine, home: string, bundle: string): Promise<Whole> =>
  Whole.start([], join(home, 'data'), {
    BREAKWATER_HOST: ours,
    BREAKWATER_TLS_PORT: String(await freePort()),
    BREAKWATER_BUS_PORT: String(await freePort()),
    BREAKWATER_BUNDLE: bundle,
  });

/** A line for its first zone. */
export async function joinLine(whole: Whole, more: Record<string, unknown> = {}): Promise<{ command: string; token: string }> {
  const client = await whole.signIn('client');
  const zones = await whole.call('GET', '/client/metaZones', client);
  const body = { zoneID: zones.body[0].id as number, ...more };
  const made: unknown = await accepted(() => whole.call('POST', '/client/nodes/joinToken', client, body));
  return made as { command: string; token: string };
}

export async function statementIn(whole: Whole, statement: string): Promise<void> {
  const { postgres } = JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as { postgres: number };
  const secret = readFileSync(join(whole.folder, 'postgres.password'), 'utf8').trim();
  const client = new pg.Client({ connectionString: `postgres://breakwater:${secret}@127.0.0.1:${postgres}/breakwater` });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Node of the console's list. */
export async function nodeNamed(whole: Whole, name: string) {
  const { body } = await whole.call('GET', '/client/nodes', await whole.signIn('client'));
  // oxlint-disable-next-line typescript/no-explicit-any -- as Whole.call answers it
  return body.data.find((one: { name: string }) => one.name === name) as any;
}

/** From the console it becomes what is offered. @returns it, and the task with its lines, when that has ended */
export async function upgraded(whole: Whole, name: string, version: string) {
  const client = await whole.signIn('client');
  assert.equal((await whole.call('GET', '/client/node/latestVersion', client)).body.version, version);
  const { id, upgradable } = await nodeNamed(whole, name);
  assert.equal(upgradable, true);
  const begun: unknown = await accepted(() => whole.call('POST', '/client/node/upgrade', client, { ids: [id] }));
  const { taskID } = begun as { taskID: number };
  const asked = async () => (await whole.call('GET', `/client/task/${taskID}`, client)).body;
  const isDone = async () => (await asked()).lines.some(({ code }: { code: string }) => code === 'done');
  await poll(async () => (await isDone()) || (await asked()).task.endedAt !== null, 120_000, 500);
  // It is watched for some minutes more. The line may be told a moment before the end of the upgrade is noted.
  const ended = `update "nodeUpgrade" set "endedAt" = "endedAt" - interval '1 hour' where "endedAt" > now() - interval '30 minutes'`;
  const isOver = async () => {
    await statementIn(whole, ended);
    return (await asked()).task.endedAt !== null;
  };
  await poll(isOver, 120_000, 1000);
  const { task, lines } = await asked();
  return { node: await nodeNamed(whole, name), task, lines };
}
