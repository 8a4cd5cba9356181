/** A node that runs a placed version, told to become others as the control plane does, and the archives it fetches. */
import { readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Bundle, Packed } from '#contract/node/bundle.ts';
import { send } from '#server/bus/commands.ts';
import { busEvents } from '#server/bus/settle.ts';
import { freePort } from '#server/store/engine-process.ts';
import type { blackHole } from '../../server/test/black-hole.ts';
import { origin, Plane, until } from './node.ts';
import { PlacedNode, type Versions } from './versions.ts';

type BlackHole = Awaited<ReturnType<typeof blackHole>>;
export interface Place {
  all: Versions;
  prefix: string;
  /** what the node keeps; default: a folder of its own */
  data?: string;
  /** its way to the bus; default: straight */
  way?: BlackHole;
}
/** What the control plane does when archives are asked for. */
export interface Gate {
  /** bytes after which an answer breaks off, once */
  breakAfter: number;
  /** as they were asked for */
  ranges: string[];
  /** before an archive is sent */
  asked(): void;
}

export async function stand(t: TestContext, { all, prefix, data, way }: Place) {
  const gate: Gate = { breakAfter: 0, ranges: [], asked: () => {} };
  let serving: Record<string, Packed> = {};
  const plane = await Plane.start(t, way ? { toldUrl: `nats://127.0.0.1:${way.port}` } : {});
  if (way) way.target = { host: '127.0.0.1', port: plane.rig.engine.port };
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('z');
  const siteID = await rig.site(productID, 's');
  const ports = await Promise.all(['one', 'two'].map(name => origin(t, name)));
  for (const [i, port] of ports.entries()) await rig.domain(siteID, `${['a', 'b'][i]}.test`, '127.0.0.1', port);
  const token = await plane.token(zoneID);
  const node = new PlacedNode({ prefix, first: all.first }, plane, token, 'n');
  if (data) node.data = data;
  [node.httpPort, node.healthPort] = [await freePort(), await freePort()];
  const halfOf = (part: Packed) =>
    statSync(join(node.data, 'upgrade', `${part.file}.part`), { throwIfNoEntry: false })?.size ?? 0;
  function hand(request: http.IncomingMessage, answer: http.ServerResponse): unknown {
    const part = serving[request.url!.split('/').at(-1)!];
    if (!part) return answer.writeHead(404).end();
    gate.asked();
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    gate.ranges.push(request.headers.range ?? 'whole');
    answer.writeHead(from ? 206 : 200, { 'content-length': part.bytes - from });
    const bytes = readFileSync(join(all.archives, part.file));
    if (!gate.breakAfter) return answer.end(bytes.subarray(from));
    const end = gate.breakAfter;
    gate.breakAfter = 0;
    answer.write(bytes.subarray(0, end));
    // what a broken connection has brought by then counts
    void until('it is written down', () => halfOf(part) === end).then(() => answer.destroy());
    return undefined;
  }
  // archives come from where it joined
  const calls = plane.http.listeners('request') as http.RequestListener[];
  plane.http.removeAllListeners('request');
  plane.http.on('request', (request, answer) => {
    if (request.url!.startsWith('/bundle/')) hand(request, answer);
    else for (const call of calls) call(request as never, answer as never);
  });
  t.after(() => node.end());
  node.start();
  await until('it serves', async () => (await node.visit('a.test')) === 'one' && (await node.visit('b.test')) === 'two');
  let count = Date.now() * 1000;
  let id = 0;
  /** Told as the control plane does: again until it has answered. @returns why not; null: it is done */
  async function told(verb: string, body: object): Promise<string | null> {
    const nodeID = await rig.one(`select id from node where name = 'n'`);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const own = new Set<number>();
    const heard = (_: number, { count, ok, why }: { count: number; ok: boolean; why?: string | undefined }) => {
      // one that is sent again while the first is done may meet a disk that is full by then: what came of the first is what counts
      const isAgain = own.size > 1 && !ok && why?.startsWith('it cannot be remembered');
      if (own.has(count) && !isAgain) resolve(ok ? null : (why ?? ''));
    };
    busEvents.on('answer', heard);
    const tell = () => {
      own.add(++count);
      send({ nats: rig.nc, signer: rig.signer }, { nodeID, verb, count, body: JSON.stringify(body) });
    };
    tell();
    const timer = setInterval(tell, 1000);
    const late = setTimeout(() => resolve('no answer in 150 s'), 150_000);
    try {
      return await promise;
    } finally {
      clearInterval(timer);
      clearTimeout(late);
      busEvents.off('answer', heard);
    }
  }
  async function upgrade(
    bundle: Bundle,
    more: { manifest?: string; signer?: typeof rig.signer; idAgain?: boolean } = {},
  ): Promise<string | null> {
    if (!more.idAgain) id++;
    serving = { application: bundle.application, runtime: bundle.runtime };
    const manifest = JSON.stringify(bundle);
    const signature = (more.signer ?? rig.signer).bundle(manifest);
    return told('upgrade', { id, manifest: more.manifest ?? manifest, signature, path: '/bundle' });
  }
  const rollback = (from: string, to: string) => told('rollback', { id: ++id, from, to });
  const lua = () =>
    new Promise<string>((done, fail) => {
      const socketPath = join(node.data, 'run/ctl/ctl.sock');
      http
        .get({ socketPath, path: '/stat?brief=1', agent: false }, answer => {
          let text = '';
          answer.setEncoding('utf8').on('data', part => (text += part));
          answer.on('end', () => done((JSON.parse(text) as { lua: string }).lua));
        })
        .on('error', fail);
    });
  /** Visitors, until it is called: how many there were, and which were not answered as they should. */
  function visitors() {
    let [over, asked] = [false, 0];
    const wrong: string[] = [];
    const ask = async (host: string, wished: string) => {
      while (!over) {
        asked++;
        const said = await node.visit(host).catch((error: Error) => error.message);
        if (said !== wished) wrong.push(`${host} ${said}`);
        await new Promise(next => setTimeout(next, 5));
      }
    };
    const asking = [ask('a.test', 'one'), ask('b.test', 'two'), ask('a.test', 'one')];
    return async () => {
      over = true;
      await Promise.all(asking);
      return { asked, wrong };
    };
  }
  const version = () => rig.one<string>(`select version from node where name = 'n'`);
  return { plane, rig, node, upgrade, rollback, lua, visitors, version, gate };
}
