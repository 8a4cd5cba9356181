/** Nodes of a fleet that run placed versions, what is offered to them, and a clock that runs ahead. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Fastify from 'fastify';
import type { Bundle } from '#contract/node/bundle.ts';
import { Offer } from '#server/bus/offer.ts';
import { serveBundle } from '#server/services/bundle.ts';
import { testFolder } from '#system/engines.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import { PlacedNode, Versions } from './versions.ts';

export async function upgradeFleet(t: TestContext, names: readonly string[]) {
  const versions = await Versions.in(testFolder('fleet'));
  const offers = versions.archives;
  const offerOf = (bundle: Bundle) => writeFileSync(join(offers, 'bundle.json'), JSON.stringify(bundle));
  mkdirSync(offers, { recursive: true });
  // made when the keys of the bus are known
  const made: { offer?: Offer } = {};
  const late = new Proxy({} as Offer, {
    get: (_, name: keyof Offer) => {
      const value: unknown = made.offer?.[name];
      return typeof value === 'function' ? value.bind(made.offer) : value;
    },
  });
  const fleet = await startFleet(t, late);
  const { call, plane } = fleet;
  const offer = (made.offer = new Offer(offers, plane.rig.engine.keys.documentSeed));
  const app = Fastify();
  app.setNotFoundHandler((_, reply) => void reply.code(404).send());
  app.decorateReply('callNotFound', function () {
    return this.code(404).send() as never;
  });
  serveBundle(app, offer, plane.rig.pool);
  await app.ready();
  const calls = plane.http.listeners('request') as ((...args: unknown[]) => void)[];
  plane.http.removeAllListeners('request');
  plane.http.on('request', (request, answer) => {
    if (request.url!.startsWith('/bundle/')) app.routing(request, answer);
    else for (const one of calls) one(request, answer);
  });
  t.after(() => app.close());
  await cachedDomain(t, fleet, 'a.test');
  const nodes: PlacedNode[] = [];
  for (const name of names) {
    const prefix = await versions.prefix(name);
    nodes.push(
      (await fleet.node(
        name,
        undefined,
        token => new PlacedNode({ prefix, first: versions.first }, plane, token, name),
      )) as PlacedNode,
    );
  }
  await until('served', async () => (await nodes.at(-1)!.visit('a.test')) === 'one');
  const ids = nodes.map(node => node.id);
  const seen = async () => {
    const { data } = (await call.read('/client/nodes')) as {
      data: { name: string; version: string; upgrade: string; upgradable: boolean }[];
    };
    return new Map(data.map(node => [node.name, node]));
  };
  await until('they say what they run', async () => (await seen()).get(names.at(-1)!)!.upgradable);
  /** For those that have ended and are well time goes by so fast; @returns ends it */
  const hurry = (seconds = 61) => {
    const pass = () =>
      void plane.rig.pool
        .query(
          `update "nodeUpgrade" set "endedAt" = "endedAt" - $1 * interval '1 second', "wellSince" = "wellSince" - $1 * interval '1 second' where "endedAt" is not null`,
          [seconds],
        )
        .catch(() => {});
    const timer = setInterval(pass, 1500);
    t.after(() => clearInterval(timer));
    return () => clearInterval(timer);
  };
  return { versions, fleet, call, plane, offer, nodes, ids, offerOf, seen, hurry };
}
