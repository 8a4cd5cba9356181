import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Engine, poll, processFacts, spawnEngine } from '#server/store/engine-process.ts';
import { supervise } from './supervise.ts';

const started: Engine[] = [];
after(async () => {
  for (const engine of started) await engine.stop(0);
});

test('a mute part is killed and started anew; while that cannot help it is left alone, and that is said once', async () => {
  const said: string[] = [];
  let why: string | undefined = 'the disk is full. Free some space.';
  let asked = 0;
  const part = await supervise(
    {
      name: 'mute',
      healthEveryMs: 5,
      patience: 2,
      start: async () => {
        const engine = await spawnEngine({ command: 'sleep', args: ['600'], ref: false });
        started.push(engine);
        return engine;
      },
      healthy: () => Promise.resolve((asked++, started.length > 1)),
      hopeless: () => why,
    },
    { log: (_, text) => said.push(text) },
  );
  assert.ok(await poll(() => asked > 20, 10_000, 5));
  assert.equal(part.restarts(), 0);
  assert.deepEqual(
    said.filter(text => text.includes('Free some space')),
    ['does not answer its health check; it is started anew later: the disk is full. Free some space.'],
  );
  why = undefined;
  assert.ok(await poll(() => part.restarts() === 1 && said.includes('runs again'), 10_000, 5), said.join('\n'));
  await part.stop();
});

test('a part that stays mute is given more time before each kill', async () => {
  const asked: number[] = [];
  let engines = 0;
  const part = await supervise(
    {
      name: 'mute',
      healthEveryMs: 2,
      patience: 2,
      start: async () => {
        asked[engines++] = 0;
        const engine = await spawnEngine({ command: 'sleep', args: ['600'], ref: false });
        started.push(engine);
        return engine;
      },
      healthy: () => Promise.resolve((asked[engines - 1]!++, false)),
    },
    { log: () => {} },
  );
  assert.ok(await poll(() => engines > 3, 20_000, 5));
  await part.stop();
  assert.deepEqual(asked.slice(0, 3), [2, 4, 8]);
});

test('an engine whose start cannot be written down (a full disk) is kept all the same: none runs unwatched', async () => {
  const alive = () => mine.filter(engine => processFacts(engine.pid)).length;
  const mine: Engine[] = [];
  const said: string[] = [];
  const part = await supervise(
    {
      name: 'plain',
      start: async () => {
        const engine = await spawnEngine({ command: 'sleep', args: ['600'], ref: false });
        started.push(engine);
        mine.push(engine);
        return engine;
      },
    },
    {
      log: (_, text) => said.push(text),
      onStart: () => {
        if (mine.length === 2) throw new Error('ENOSPC: no space left on device, write');
      },
    },
  );
  await mine[0]!.stop(0);
  assert.ok(await poll(() => said.includes('runs again'), 10_000, 5), said.join('\n'));
  assert.equal(alive(), 1);
  await part.stop();
  assert.equal(alive(), 0);
});
