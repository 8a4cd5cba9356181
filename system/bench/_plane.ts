/** A control plane as a process of its own for benchmarks: relay, acknowledgements, joining over HTTP. Facts come and go as JSON. */
import http from 'node:http';
import pg from 'pg';
import { errors } from '#contract/errors.ts';
import { connectServer, startBus } from '#server/bus/bus.ts';
import type { BusKeys } from '#server/bus/credentials.ts';

const facts = JSON.parse(process.argv[2]!) as { databaseUrl: string; natsUrl: string; creds: string; keys: BusKeys };
const nats = await connectServer(facts.natsUrl, facts.creds);
const db = new pg.Pool({ connectionString: facts.databaseUrl, max: 5 });
const bus = startBus({
  databaseUrl: facts.databaseUrl,
  db,
  nats,
  keys: facts.keys,
  natsUrl: facts.natsUrl,
  log: text => console.error(text),
});
const server = http.createServer((request, answer) => {
  let text = '';
  request.on('data', part => (text += part));
  request.on('end', () =>
    (request.url!.endsWith('/join') ? bus.join : bus.renew)(JSON.parse(text), act => act()).then(
      grant => answer.end(JSON.stringify(grant)),
      error => answer.writeHead(401).end(JSON.stringify({ code: errors.invalidToken.code, message: error.message })),
    ),
  );
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as { port: number }).port })));
