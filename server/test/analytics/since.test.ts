/** Bandwidth of a site is the same for whoever asks: it is billed by. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Api } from '../harness.ts';

let api: Api;
const busy = 3e9;
/** Every 5 minutes of the last day carried as much, none before. */
const store = {
  query: async (_text: string, values: { nth?: number }) =>
    values.nth === undefined ? [{ b: 288 * busy, v: 0 }] : Array.from({ length: Math.min(288, values.nth) }, () => ({ b: busy })),
  close() {},
};
before(async () => {
  api = await Api.start({ analytics: store as never });
});
after(() => api?.stop());

test('a site of a day, an operator of two months: one 95th percentile', async () => {
  const tenant = await api.tenant('since');
  const age = (table: string, id: number, days: number) =>
    sql`update ${sql.table(table)} set "createdAt" = now() - make_interval(days => ${days}) where id = ${id}`.execute(
      api.database.db,
    );
  await Promise.all([age('account', tenant.client.id, 60), age('account', tenant.user.id, 30), age('site', tenant.siteID, 1)]);
  const now = Date.now();
  const body = {
    startTime: new Date(now - 30 * 86_400_000).toISOString(),
    endTime: new Date(now).toISOString(),
    sites: [tenant.siteID],
    types: [3],
  };
  for (const who of ['user', 'client'] as const) {
    const { body: answer } = await api.call('POST', `/${who}/statistics/info`, { token: tenant[who].token, body });
    assert.equal(answer.data[0].p95, (busy * 8) / 300, who);
  }
});
