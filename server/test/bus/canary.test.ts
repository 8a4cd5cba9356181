/** A zone's nginx settings on the bus: one node first, the others when it is well with them, nobody when it is not. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startRelay } from '#server/bus/relay.ts';
import { Rig, until } from './rig.ts';

interface Facts {
  ports?: { port: number }[];
  canary?: { id: number; node: number; ports?: { port: number }[] };
  errorPages?: unknown[];
}

async function world(t: TestContext, nodes: number) {
  const rig = await Rig.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const ids: number[] = [];
  for (let i = 0; i < nodes; i++)
    ids.push(
      await rig.one(
        `insert into node ("clientID", "zoneID", name, status, "lastBeat") values (1, $1, $2, 'normal', now()) returning id`,
        [zoneID, `n${i}`],
      ),
    );
  /** What a node says in its heartbeat, as the server writes it down. */
  const says = (
    nodeID: number,
    canary: object | undefined,
    more: { status?: string; refused?: object[]; problem?: string | null } = {},
  ) =>
    rig.pool.query(`update node set beat = $2, status = $3, refused = $4, "lastBeat" = clock_timestamp() where id = $1`, [
      nodeID,
      { problem: more.problem ?? null, ...(canary && { canary }) },
      more.status ?? 'normal',
      JSON.stringify(more.refused ?? []),
    ]);
  const quiet = { id: 0, taken: false, why: null };
  for (const id of ids) await says(id, quiet);
  // those that are well go on being heard
  const beating = setInterval(
    () => void rig.pool.query(`update node set "lastBeat" = clock_timestamp() where status = 'normal'`).catch(() => {}),
    500,
  );
  t.after(() => clearInterval(beating));
  const running = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  rig.onEnd(() => running.stop());
  const subject = `cfg.${zoneID}.zone.${zoneID}`;
  const stands = async (): Promise<Facts | undefined> => {
    const text = (await rig.pool.query(`select body from published where kind = 'zone'`)).rows[0]?.body;
    return text ? JSON.parse(text) : undefined;
  };
  await until('the zone stands', async () => (await stands()) !== undefined && (await rig.outbox()) === 0);
  const has = (all: readonly { port: number }[] | undefined, port: number) => !!all?.some(one => one.port === port);
  return {
    ...{ rig, zoneID, siteID, ids, says, quiet, subject, stands },
    open: (port: number) =>
      rig.change([`zone ${zoneID}`], [`insert into "zonePort" ("zoneID", port, scheme) values ($1, $2, 'http')`, [zoneID, port]]),
    close: (port: number) => rig.change([`zone ${zoneID}`], [`delete from "zonePort" where port = $1`, [port]]),
    /** one node has it and the others do not, as an attempt other than that one */
    async tried(port: number, before = 0) {
      await until(`port ${port} is tried`, async () => {
        const document = await stands();
        return has(document?.canary?.ports, port) && !has(document?.ports, port) && document!.canary!.id !== before;
      });
      return (await stands())!.canary!;
    },
    all: (port: number) =>
      until(`all have port ${port}`, async () => {
        const document = await stands();
        return has(document?.ports, port) && !document!.canary;
      }),
    nobody: (port: number) =>
      until(`nobody has port ${port}`, async () => {
        const document = await stands();
        return !has(document?.ports, port) && !document!.canary;
      }),
    row: async () =>
      (await rig.pool.query('select state, why, detail, "nodeID" from "zoneCanary"')).rows[0] as
        | { state: string; why: string | null; detail: string | null; nodeID: string | null }
        | undefined,
  };
}

/** It goes on saying so, as a node does. */
async function keepsSaying(t: TestContext, say: () => Promise<unknown>): Promise<void> {
  await say();
  const timer = setInterval(() => void say().catch(() => {}), 500);
  t.after(() => clearInterval(timer));
}

test('one node has a change first; the others follow when its nginx has taken it and it was well; what else changes goes to all at once', async t => {
  const { rig, siteID, ids, says, open, tried, all, stands, row } = await world(t, 3);
  await open(8080);
  const canary = await tried(8080);
  assert.equal(canary.node, ids[0]);
  // a change that takes no reload does not wait, of the site or of the zone
  await rig.domain(siteID, 'b.test');
  await rig.change(
    ['zone 1'],
    [`insert into "systemErrorPage" ("clientID", code, type, content) values (1, 403, 'content', '<p>none</p>')`, []],
  );
  await until('both are published', async () => (await rig.outbox()) === 0);
  const during = (await stands())!;
  assert.equal(during.errorPages?.length, 1);
  assert.deepEqual([during.canary?.id, during.ports], [canary.id, []]);
  // another attempt's word says nothing of this one
  await says(ids[0]!, { id: canary.id + 1, taken: true, why: null });
  assert.equal((await row())?.state, 'trying');
  await keepsSaying(t, () => says(ids[0]!, { id: canary.id, taken: true, why: null }));
  await all(8080);
  await until('nothing is left', async () => (await row()) === undefined);
});

interface Said {
  canary?: object;
  refused?: object[];
  problem?: string;
  status?: string;
}
const failures: [what: string, say: (subject: string) => Said, why: string][] = [
  ['refuses the document', (subject: string) => ({ refused: [{ subject, seq: 1, why: 'cannot be read' }] }), 'refused'],
  ['cannot give it to its nginx', () => ({ canary: { taken: false, why: 'port 8080 is taken by another program' } }), 'refused'],
  ['falls ill with it', () => ({ canary: { taken: true, why: null }, problem: 'nginx does not answer', status: 'error' }), 'ill'],
  ['goes offline', () => ({ status: 'offline' }), 'offline'],
];
for (const [what, say, why] of failures)
  test(`one that ${what} is no word for all: another is asked, and when that one fails too nobody has it, until it is tried again`, async t => {
    const { rig, zoneID, ids, says, quiet, subject, open, tried, nobody, all, row } = await world(t, 4);
    await open(8080);
    let before = 0;
    const asked: number[] = [];
    for (let n = 0; n < 2; n++) {
      const canary = await tried(8080, before);
      before = canary.id;
      asked.push(canary.node);
      const { canary: part, ...more } = say(subject);
      await says(canary.node, part ? { id: canary.id, ...part } : quiet, more);
    }
    assert.deepEqual(asked, ids.slice(0, 2));
    await nobody(8080);
    assert.deepEqual([(await row())?.state, (await row())?.why, (await row())?.nodeID], ['stopped', why, String(ids[1])]);
    // what has nothing to do with it goes on, and does not bring it back
    await rig.change([`zone ${zoneID}`]);
    await nobody(8080);
    assert.equal((await row())?.state, 'stopped');
    // mended, and tried again: by one that did not fail
    for (const id of ids.slice(0, 2)) await says(id, quiet);
    await rig.pool.query(`update "zoneCanary" set state = 'trying', "nodeID" = null, tries = 0`);
    await rig.change([`zone ${zoneID}`]);
    const again = await tried(8080, before);
    assert.equal(again.node, ids[2]);
    await keepsSaying(t, () => says(again.node, { id: again.id, taken: true, why: null }));
    await all(8080);
  });

test('a stolen node that always says it cannot holds nothing up: the next one is asked, and all have it', async t => {
  for (const nodes of [2, 3]) {
    const { ids, says, open, tried, all } = await world(t, nodes);
    await open(8080);
    const first = await tried(8080);
    assert.equal(first.node, ids[0]);
    await says(ids[0]!, { id: first.id, taken: false, why: 'I will not' });
    const second = await tried(8080, first.id);
    assert.equal(second.node, ids[1]);
    await keepsSaying(t, () => says(ids[1]!, { id: second.id, taken: true, why: null }));
    await all(8080);
  }
});

test('of two nodes the second is not asked while the first does not serve; tried again, it goes first', async t => {
  const { rig, zoneID, ids, says, open, tried, nobody, row } = await world(t, 2);
  await open(8080);
  const first = await tried(8080);
  await says(ids[0]!, { id: first.id, taken: true, why: null }, { problem: 'nginx does not answer', status: 'error' });
  await nobody(8080);
  assert.deepEqual([(await row())?.state, (await row())?.why, (await row())?.nodeID], ['stopped', 'ill', String(ids[0])]);
  await says(ids[0]!, { id: 0, taken: false, why: null });
  await rig.pool.query(`update "zoneCanary" set state = 'trying', "nodeID" = null, tries = 0`);
  await rig.change([`zone ${zoneID}`]);
  assert.equal((await tried(8080, first.id)).node, ids[1]);
});

test('where the second node goes away before it is asked the change stops, and does not go to all', async t => {
  const { rig, ids, says, open, tried, nobody, row } = await world(t, 2);
  await open(8080);
  const first = await tried(8080);
  await rig.pool.query(`update node set status = 'offline' where id = $1`, [ids[1]]);
  await rig.pool.query(
    `update "zoneCanary" set "nodeID" = null, tries = 1, why = 'refused', detail = 'no', "failedIDs" = array[$1::bigint]`,
    [ids[0]],
  );
  await says(ids[0]!, { id: first.id, taken: false, why: 'no' });
  await rig.change(['zone 1']);
  await nobody(8080);
  assert.deepEqual([(await row())?.state, (await row())?.why, (await row())?.nodeID], ['stopped', 'refused', String(ids[0])]);
});

test('taken back while it is tried, nothing is left of it; changed again, the new one is tried', async t => {
  const { open, close, tried, nobody, row } = await world(t, 2);
  await open(8080);
  const first = await tried(8080);
  await open(8081);
  const second = await tried(8081);
  assert.ok(second.id > first.id);
  await close(8080);
  await close(8081);
  await nobody(8081);
  await until('nothing is left', async () => (await row()) === undefined);
});

test('a node that is paused, gone or moved while it tries hands over to another; nothing is tried where nobody could wait', async t => {
  const { rig, ids, open, tried, all, says, row, quiet } = await world(t, 2);
  await open(8080);
  const { node, id } = await tried(8080);
  await rig.pool.query(`update node set status = 'paused' where id = $1`, [node]);
  const other = await tried(8080, id);
  assert.equal(other.node, ids[1]);
  await keepsSaying(t, () => says(other.node, { id: other.id, taken: true, why: null }));
  await all(8080);
  assert.equal(await row(), undefined);
  // one node alone; then two, of which none knows of this
  await rig.pool.query(`update node set "deletedAt" = now() where id = $1`, [ids[0]]);
  await says(ids[1]!, quiet);
  await open(8081);
  await all(8081);
});

test('nodes of an earlier release, which know nothing of this, have a change at once', async t => {
  const { ids, says, open, all } = await world(t, 2);
  for (const id of ids) await says(id, undefined);
  await open(8080);
  await all(8080);
});
