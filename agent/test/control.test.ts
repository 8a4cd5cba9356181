/** nginx's control socket, asked by an agent that does not always get its turn. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { testFolder } from '#system/engines.ts';
import { Control } from '../src/control.ts';

/** Answers on a thread of its own, so also while this one stands still; or takes every connection and says nothing. */
async function nginx(t: TestContext, answers: boolean): Promise<string> {
  const socket = join(testFolder('control'), 'ctl.sock');
  const code = `const http = require('node:http'), { parentPort, workerData } = require('node:worker_threads');
    http.createServer((_, answer) => workerData.answers && answer.end('{"problems":{}}')).listen(workerData.socket, () => parentPort.postMessage('up'));`;
  const worker = new Worker(code, { eval: true, workerData: { socket, answers } });
  t.after(() => worker.terminate());
  await once(worker, 'message');
  return socket;
}
const stand = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('an agent that stood still takes an answer that is there for an answer, wherever it stood still', async t => {
  const control = new Control(await nginx(t, true));
  t.after(() => control.close());
  // before the question was sent, and after
  for (const turns of [0, 1, 2, 3]) {
    const asked = control.ping(100);
    for (let turn = 0; turn < turns; turn++) await new Promise(next => setImmediate(next));
    stand(400);
    await asked;
  }
});

test('who says nothing is silent, also to an agent that stood still', async t => {
  const control = new Control(await nginx(t, false));
  t.after(() => control.close());
  await assert.rejects(control.ping(50), /does not answer/);
  const asked = control.ping(50);
  stand(200);
  await assert.rejects(asked, /does not answer/);
});
