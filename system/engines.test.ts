import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import pg from 'pg';
import { poll, processFacts } from '#server/store/engine-process.ts';
import { freshDatabase } from './engines.ts';

test('each caller gets an empty database of its own', async () => {
  const [one, two] = await Promise.all([freshDatabase(), freshDatabase()]);
  assert.notEqual(one, two);
  const client = new pg.Client({ connectionString: one });
  await client.connect();
  const { rows } = await client.query(
    "select count(*)::int as tables, lower('ÄÖ') as lower from pg_tables where schemaname = 'public'",
  );
  await client.end();
  assert.deepEqual(rows, [{ tables: 0, lower: 'äö' }]);
});

test('engines end with the process that started them, even after a kill -9', async () => {
  const program =
    "const { nats } = await import('#system/engines.ts'); console.log((await nats()).pid); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const pid = Number(line);
    assert.ok(processFacts(pid));
    child.kill('SIGKILL');
    assert.ok(await poll(() => processFacts(pid) === undefined, 10_000));
  }
});
