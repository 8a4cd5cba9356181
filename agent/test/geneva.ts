/** Run in a network namespace of its own (geneva.test.ts): a server, a visitor, and in which segments its request comes, as lines of JSON. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { type Geneva, GenevaTable } from '../src/geneva.ts';

const port = 8080;
const requestBytes = 5000;
const nft = (...args: string[]) => execFileSync('nft', args, { encoding: 'utf8' });

/** Counts segments of the visitor with data, those that fill the first window, and how often the server's kernel said that window. */
function countSegments(heads: number, window: number): void {
  // an IP header, and a TCP header with its time stamps, are in front
  const from = [`meta length > ${heads} counter comment "data"`, `meta length ${heads + window} counter comment "first"`];
  nft(
    `table inet seen
delete table inet seen
table inet seen {
chain in { type filter hook input priority 0;
${from.map(rule => `tcp dport ${port} ${rule}`).join('\n')}
}
chain out { type filter hook output priority 0;
tcp sport ${port} tcp window ${window} counter comment "said"
}
}`,
  );
}
function counted(): Record<string, number> {
  const { nftables } = JSON.parse(nft('-j', 'list', 'table', 'inet', 'seen')) as {
    nftables: { rule?: { comment: string; expr: { counter?: { packets: number } }[] } }[];
  };
  return Object.fromEntries(
    nftables.flatMap(({ rule }) => (rule ? [[rule.comment, rule.expr.find(one => one.counter)!.counter!.packets]] : [])),
  );
}

/** One request of a visitor, and a long answer. */
async function segments(host: string, first: number) {
  countSegments(host.includes(':') ? 72 : 52, first);
  const server = net.createServer(socket => {
    let had = 0;
    socket.on('data', piece => {
      had += piece.length;
      if (had >= requestBytes) socket.end('x'.repeat(100_000));
    });
    socket.on('error', () => {});
  });
  server.listen(port, host);
  await once(server, 'listening');
  const visitor = net.connect({ host, port, noDelay: true });
  await once(visitor, 'connect');
  let got = 0;
  visitor.on('data', piece => (got += piece.length));
  visitor.write('G'.repeat(requestBytes));
  await once(visitor, 'close');
  server.close();
  await once(server, 'close');
  if (got !== 100_000) throw new Error(`${got} bytes of the answer came`);
  return counted();
}

const table = new GenevaTable('/in/a/namespace', () => {});
const settings: (Geneva | null)[] = [null, { version: 'v1', window: 4 }, { version: 'v2', window: 1 }, null];
for (const wanted of settings) {
  await table.hold(wanted, [port, 8443]);
  const first = wanted?.window ?? requestBytes;
  const [four, six] = [await segments('127.0.0.1', first), await segments('::1', first)];
  console.log(JSON.stringify({ problem: table.problem, four, six }));
}
console.log(JSON.stringify({ left: nft('list', 'tables').trim().split('\n') }));
