/** The operator's own frequencies: they go into the documents of its zones. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { systemFrequencies, systemFrequenciesMax } from '#contract/protect/system-frequencies.ts';
import { type AnyHandler, crudOf, implement } from '../kit/implement.ts';
import { col, table } from '../kit/table.ts';
import { touchZones } from '../system/origins.ts';

export const systemFrequencyTable = table<Record<string, unknown>>()({
  table: 'systemFrequency',
  scope: { owner: (actor, a) => (actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`) },
  sort: ['priority', 'createdAt', 'updatedAt'],
});

const handlers: Record<string, AnyHandler> = crudOf('/frequency', systemFrequencyTable, {
  group: systemFrequencies as never,
  before: async (ctx, row) => {
    if (!('id' in row)) row['clientID'] = ctx.actor.rootID;
  },
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

export const systemFrequencyCalls = implement(systemFrequencies, {
  ...handlers,
  ...Object.fromEntries(
    (['POST', 'PUT', 'DELETE'] as const).map(method => [`${method} /frequency`, told(handlers[`${method} /frequency`]!)]),
  ),
} as never);
