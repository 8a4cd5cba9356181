/** The operator's own frequencies: they go into the documents of its zones. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { systemFrequencies, systemFrequenciesMax } from '#contract/protect/system-frequencies.ts';
import { type AnyHandler, crudOf, implementMade } from '../kit/implement.ts';
import { col, table } from '../kit/table.ts';
import { touchZones } from '../system/origins.ts';

export const systemFrequencyTable = table<Record<string, unknown>>()({
  table: 'systemFrequency',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) => (actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`),
  },
  sort: ['priority', 'createdAt', 'updatedAt'],
});

const handlers: Record<string, AnyHandler> = crudOf('/frequency', systemFrequencyTable, {
  group: systemFrequencies,
  before: async (ctx, row) => {
    if (!('id' in row)) row['clientID'] = ctx.actor.rootID;
  },
  removed: touchZones,
});
/** Then every zone of the operator is told anew. */
const told =
  (handler: AnyHandler): AnyHandler =>
  async input => {
    const answer: unknown = await handler(input);
    const { total } = await input.ctx.store(systemFrequencyTable).page({ pageSize: 1 });
    if (total > systemFrequenciesMax) throw failFields([{ path: 'items', rule: 'tooMany', bounds: { n: systemFrequenciesMax } }]);
    await touchZones(input.ctx);
    return answer;
  };

export const systemFrequencyCalls = implementMade(systemFrequencies, {
  ...handlers,
  ...Object.fromEntries(
    (['POST', 'PUT'] as const).map(method => [`${method} /frequency`, told(handlers[`${method} /frequency`]!)]),
  ),
});
