/** Certificates that have no room are left out alone: nobody else's configuration waits for them, in a push or at a start. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Control } from '#agent/control.ts';
import { EdgeState } from '#agent/edge-state.ts';
import { claimOf } from '#agent/read-document.ts';
import { writeSnapshot } from '#agent/nginx-files.ts';
import { Pusher } from '#agent/push.ts';
import { authority } from '#system/authority.ts';
import { certificateDocument, shake } from './certificates.ts';
import { domain, freePort, site, startEdge, startOrigin } from './harness.ts';

test('certificates without room hold up nobody, are told, and come when there is room', async t => {
  const ca = authority();
  // some 50 KB
  const names = Array.from({ length: 480 }, (_, i) => `${'a'.repeat(60)}.h${i}.many.test`);
  const large = certificateDocument(0, ca.issue(names), ca);
  const port = await freePort();
  await using origin = await startOrigin();
  const edge = await startEdge({ httpsPorts: [port], certificatesMb: 1 });
  const documents = new Map<string, string>();
  const state = new EdgeState(
    subject => documents.get(subject),
    () => [],
    { addresses: [], ports: [] },
    document => document.key,
  );
  const said: string[] = [];
  const pusherOf = (folder: string) =>
    new Pusher({
      state,
      control: new Control(join(folder, 'ctl/ctl.sock')),
      cursor: () => 'e.1.1',
      caughtUp() {},
      knowsAll: () => true,
      restartNginx: why => said.push(why),
      log: message => said.push(message),
    });
  const note = (subject: string, document: unknown) => {
    documents.set(subject, JSON.stringify(document));
    return state.note(subject, claimOf(subject, document as never)).keys;
  };
  const gone = (subject: string) => (documents.delete(subject), state.note(subject, null).keys);
  const first = 100;
  const count = 30;

  const pusher = pusherOf(edge.folder);
  await pusher.nginxUp(false);
  const environment = ['127.0.0.0/8', '::1'];
  await pusher.push(note('cfg.1.zone.1', { v: 1, rev: 1, id: 1, origins: { operator: [], environment, own: [] } }));
  const keys: string[] = [];
  for (let id = first; id < first + count; id++) keys.push(...note(`cfg.1.certificate.${id}`, { ...large, id }));
  // with them in one push, and after them
  keys.push(...note('cfg.1.site.2', site(2)), ...note('cfg.1.domain.1', domain(1, 'same.test', [origin.port], { site: 2 })));
  assert.deepEqual(await pusher.push(keys), []);
  assert.deepEqual([pusher.problem, pusher.serving], [null, true]);
  assert.equal((await edge.ask('same.test', '/')).status, 200);
  await pusher.push(note('cfg.1.domain.2', domain(2, 'later.test', [origin.port], { site: 2, certificate: 900 })));
  assert.equal((await edge.ask('later.test', '/')).status, 200);

  type Told = { bad: { list: string; id: string; error: string }[]; records: number };
  const told = ({ bad }: Told) => bad.filter(one => one.list === 'certificates' && one.error === 'no room').map(one => one.id);
  const before = (await edge.stat()) as unknown as Told; // the control socket's words
  const without = told(before);
  assert.ok(without.length > 5 && without.length < count, `${without.length} of ${count}`);
  assert.equal(before.records, state.size - without.length);

  // what is small has no room either where the rest is kept for those that replace one; it comes when others go
  const issued = ca.issue(['later.test']);
  await pusher.push(note('cfg.1.certificate.900', certificateDocument(900, issued, ca)));
  const removed: string[] = [];
  for (let id = first; id < first + count - 5; id++) removed.push(...gone(`cfg.1.certificate.${id}`));
  await pusher.push(removed);
  assert.deepEqual(told((await edge.stat()) as unknown as Told), []);
  assert.equal((await shake(port, 'later.test', { ca: ca.root })).error, null);
  await pusher.stop();

  // a start from a snapshot that does not fit
  for (let id = first; id < first + count; id++) note(`cfg.1.certificate.${id}`, { ...large, id });
  await edge.stop?.();
  const next = pusherOf(edge.folder);
  await writeSnapshot(join(edge.folder, 'snapshot.bin'), next.snapshot());
  await using again = await startEdge({ folder: edge.folder, httpsPorts: [port], certificatesMb: 1, httpPorts: [edge.port] });
  await next.nginxUp(false);
  t.after(() => next.stop());
  const after = (await again.stat()) as unknown as Told;
  const left = told(after);
  assert.ok(left.length > 5 && left.length < count, `${left.length} of ${count}`);
  assert.equal(after.records, state.size - left.length);
  assert.deepEqual([next.problem, next.serving], [null, true]);
  for (const host of ['same.test', 'later.test']) assert.equal((await again.ask(host, '/')).status, 200);
  assert.deepEqual(
    said.filter(line => !line.startsWith('nginx holds 0 records')),
    [],
  );
});
