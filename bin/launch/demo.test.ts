import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { StartError } from '#server/store/engine-process.ts';
import { awaitDemo } from './demo.ts';

async function edge(status: number): Promise<{ server: Server; port: number }> {
  const server = createServer((_, answer) => answer.writeHead(status).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('a demo that its own settings refuse is a warning; only an edge that does not answer ends the start', async () => {
  const said: string[] = [];
  const told = (line: string) => said.push(line);
  const serves = await edge(200);
  await awaitDemo(serves.port, 5000, told);
  assert.deepEqual(said, []);
  serves.server.close();
  const refuses = await edge(403);
  await awaitDemo(refuses.port, 1, told);
  assert.match(said.join('\n'), /^Warning: the edge answers 403/);
  refuses.server.close();
  refuses.server.closeAllConnections();
  await once(refuses.server, 'close');
  await assert.rejects(awaitDemo(refuses.port, 1, told), StartError);
});
