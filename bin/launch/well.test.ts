import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tracker, fails } from '#contract/system/health.ts';
import { untilWell } from './well.ts';

const [refused] = new Tracker().track([
  fails('streams.missing', { stream: 'LOGS', detail: 'insufficient storage resources' }, { key: 'LOGS' }),
]);

test('no `ready` stands for a refused stream: it is an error on the screen, said once, and ready follows when it is mended', async () => {
  const lines: string[] = [];
  let asked = 0;
  await untilWell({
    ask: () => Promise.resolve(++asked < 5 ? { ready: false, failing: [refused!] } : { ready: true, failing: [] }),
    say: line => lines.push(line),
    ready: () => lines.push('ready'),
    ending: () => false,
    graceMs: 0,
    everyMs: 1,
  });
  assert.equal(lines.length, 2);
  assert.match(
    lines[0]!,
    /^NOT ready: streams: The stream LOGS of the bus is missing: insufficient storage resources .*free disk space/,
  );
  assert.equal(lines[1], 'ready');
});

test('who ends meanwhile hears nothing more', async () => {
  const lines: string[] = [];
  let ending = false;
  await untilWell({
    ask: () => ((ending = true), Promise.resolve({ ready: true, failing: [] })),
    say: line => lines.push(line),
    ready: () => lines.push('ready'),
    ending: () => ending,
  });
  assert.deepEqual(lines, []);
});
