/** An authority's question whether a host is ours (ACME, HTTP-01) is answered whatever the site does with visitors. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { recordsOf } from '#agent/render/records.ts';
import { authority } from '#system/authority.ts';
import { certificateDocument, recordsOfCertificate } from './certificates.ts';
import { domain, type Edge, freePort, type Origin, site, startEdge, startOrigin } from './harness.ts';

const path = '/.well-known/acme-challenge/';
const token = 'abcdefghijklmnopqrstuvwxyz012345';
const answer = `${token}.${'k'.repeat(43)}`;
const records = (host: string, tokens: { token: string; answer: string }[]) =>
  recordsOf(
    'challenge',
    { v: 1, rev: 1, id: 1, host, tokens },
    () => [],
    () => ({ allowed: true }),
  );

describe('a host that an authority asks for', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge({ httpsPorts: [await freePort()] }), startOrigin()]);
    const ca = authority();
    await edge.put(...recordsOfCertificate(certificateDocument(1, ca.issue(['a.test']), ca)));
    const everybody = { id: 1, ips: ['0.0.0.0/0'], block: 'deny' as const };
    await edge.putDocuments(
      [site(1, { blacklists: [everybody] }), site(2, { state: 'pause' })],
      [
        domain(1, 'a.test', [origin.port], { certificate: 1, forceSSL: true }),
        domain(2, 'b.test', [origin.port], { site: 2 }),
        domain(3, 'c.test', [origin.port], { site: 1 }),
      ],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  test('answers its token alone, before blacklist, redirect and pause, and the cache keeps nothing of it', async () => {
    const before = (await edge.ask('a.test', path + token)).status;
    assert.notEqual(before, 200);
    await edge.put(
      ...records('a.test', [
        { token: 'x'.repeat(32), answer: 'other' },
        { token, answer },
      ]),
    );
    await edge.put(...records('b.test', [{ token, answer }]));
    for (const host of ['a.test', 'A.test', 'b.test']) {
      const { status, body, headers } = await edge.ask(host, path + token);
      assert.deepEqual([status, body, headers['cache-control']], [200, answer, 'no-store'], host);
    }
    assert.equal((await edge.ask('a.test', path + token, { method: 'HEAD' })).status, 200);
    // another token, another host, another method: as any visitor
    for (const [host, asked, method] of [
      ['a.test', path + token.slice(1), 'GET'],
      ['a.test', `${path}${token}?x`, 'GET'],
      ['a.test', path, 'GET'],
      ['a.test', path + token, 'POST'],
      ['c.test', path + token, 'GET'],
    ] as const)
      assert.equal((await edge.ask(host, asked, { method })).status, before, `${method} ${host} ${asked}`);
    await edge.put({ key: 'a:a.test', value: null });
    assert.equal((await edge.ask('a.test', path + token)).status, before);
    assert.deepEqual(origin.seen, []);
  });
});
