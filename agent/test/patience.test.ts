/** What a time limit leaves to somebody whose answer is there already. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { patience } from '../src/patience.ts';

/** In the phase of the timers, as those of `patience` are: what has arrived is read after it. Taken before they are mocked. */
const amongTimers = (act: () => void) => setTimeout(act, 1);

async function pair(t: { after(end: () => void): void }): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const near = connect(port, '127.0.0.1');
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')]);
  t.after(() => (near.destroy(), (far as Socket).destroy(), server.close()));
  return [near, far as Socket];
}

for (const answers of [true, false])
  test(`the last timer fires ${answers ? 'with the answer in the socket: it counts' : 'and nothing has come: it is over'}`, async t => {
    const [near, far] = await pair(t);
    const said: string[] = [];
    await new Promise<void>(done => {
      amongTimers(() => {
        t.mock.timers.enable({ apis: ['setTimeout'] });
        const enough = patience(800, () => (said.push('over'), done()));
        near.once('data', () => (enough(), said.push('answer'), setImmediate(() => setImmediate(done))));
        for (let ms = 0; ms < 700; ms += 100) t.mock.timers.tick(100);
        // written at once, that is to say it is in the socket before the last timer fires
        if (answers) far.write('x');
        t.mock.timers.tick(100);
        assert.deepEqual(said, []);
      });
    });
    assert.deepEqual(said, [answers ? 'answer' : 'over']);
  });
