/** A sync with a store and a control socket of the test's own, which keeps records as nginx does. */
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { Control } from '../src/control.ts';
import { NameResolver } from '../src/resolve.ts';
import { DocumentStore, type Refused } from '../src/store.ts';
import { Sync } from '../src/sync.ts';
import { until } from './node.ts';

export class Socket {
  records = new Map<string, string>();
  cursor = '';
  silent = false;
  /** refuses a push that holds this text */
  refuses = '\0';
  /** falls silent once it has taken a push that holds this text */
  falls = '\0';
  pushes = 0;
  /** bytes of values that it has room for */
  room = Infinity;
  readonly path = join(testFolder('ctl'), 'ctl.sock');

  async start(t: TestContext): Promise<this> {
    const server = http.createServer((request, answer) => {
      const url = new URL(request.url!, 'http://x');
      const parts: Buffer[] = [];
      request.on('data', part => parts.push(part));
      request.on('end', () => {
        if (this.silent) return request.destroy();
        if (url.pathname === '/apply') {
          this.pushes++;
          const body = Buffer.concat(parts);
          if (body.includes(this.refuses)) return answer.writeHead(400).end('{"error":"refused"}');
          const held = [...this.records.values()].reduce((sum, value) => sum + value.length, 0);
          if (!/^(\S+ -1\n)*$/.test(String(body)) && held + body.length > this.room)
            return answer.writeHead(507).end('{"error":"dictionary full"}');
          this.#take(body);
          this.cursor = url.searchParams.get('cursor')!;
          this.silent ||= body.includes(this.falls);
        }
        answer.end(JSON.stringify({ seq: 1, epoch: 'x', cursor: this.cursor, records: this.records.size }));
      });
    });
    server.listen(this.path);
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return this;
  }
  #take(body: Buffer): void {
    for (let at = 0; at < body.length;) {
      const end = body.indexOf(10, at);
      const [key, size] = body.toString('utf8', at, end).split(' ');
      at = end + 1;
      if (size === '-1') this.records.delete(key!);
      else {
        this.records.set(key!, body.toString('utf8', at, at + Number(size)));
        at += Number(size) + 1;
      }
    }
  }
}

export const domain = (id: number, host: string, originHost = '') =>
  JSON.stringify({ v: 1, rev: 1, id, site: 1, host, enabled: true, balance: 'roundRobin', originHost, upstreams: [] });

export async function world(t: TestContext, dir = testFolder('sync'), socket?: Socket) {
  const nginx = socket ?? (await new Socket().start(t));
  const store = await DocumentStore.open(dir);
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], hostsFile: '/nowhere', changed: () => {} });
  const acks: { seq: number; epoch: string; refused: Refused[] }[] = [];
  const restarts: string[] = [];
  const control = new Control(nginx.path);
  const sync = new Sync({
    store,
    resolver,
    control,
    acknowledge: (seq, epoch, refused) => acks.push({ seq, epoch, refused }),
    restartNginx: why => restarts.push(why),
    log: () => {},
  });
  const stop = async () => {
    await sync.stop();
    await store.close();
    control.close();
  };
  let seq = store.at.cursor;
  const send = (subject: string, body: string, pending = false) => sync.take([{ subject, seq: ++seq, body, pending }]);
  const acked = (what: string) => until(what, () => acks.at(-1)?.seq === seq);
  return { dir, nginx, store, sync, acks, restarts, send, acked, stop };
}
export const zone = 'cfg.1.zone.1';
export const zoneBody = JSON.stringify({ v: 1, rev: 1, id: 1 });
