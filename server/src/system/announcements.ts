/** What an operator tells its customers, and what these see of it. */
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { announcementBody, announcementBounds, announcements, currentAnnouncements } from '#contract/system/announcements.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { col, like, table } from '../kit/table.ts';
import { checkWhole } from '../kit/whole.ts';

interface AnnouncementRow extends Record<string, unknown> {
  id: number;
  version: number;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  title: string;
  content: string;
  start: string | null;
  end: string | null;
  orderNum: number;
}
const sort = ['orderNum', 'title', 'start', 'end', 'createdAt', 'updatedAt'];
const order = sql`t."orderNum", t.id desc`;
export const announcementTable = table<AnnouncementRow>()({
  table: 'announcement',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) => (actor.area === 'client' ? sql`${col('clientID', a)} = ${actor.rootID}` : sql`false`),
  },
  sort,
  order,
  filters: { keyword: like('title', 'content') },
});
/** The same rows as customers see them: their operator's, while they hold. */
const currentTable = table<AnnouncementRow>()({
  table: 'announcement',
  scope: {
    tenant: [['clientID']],
    owner: (actor, a) =>
      actor.area === 'user'
        ? sql`${col('clientID', a)} = ${actor.clientID} and coalesce(${col('start', a)} <= now(), true) and coalesce(${col('end', a)} > now(), true)`
        : sql`false`,
  },
  sort,
  order,
});

export const announcementCalls = implement(
  announcements,
  {
    'GET /announcements': ({ ctx, query }) => ctx.store(announcementTable).page(query),
    'POST /announcement': async ({ ctx, body }) => {
      const store = ctx.store(announcementTable);
      const { total } = await store.page({ pageSize: 1 });
      if (total >= announcementBounds.countMax)
        throw failFields([{ path: '', rule: 'tooMany', bounds: { n: announcementBounds.countMax } }]);
      return { ids: await store.add([{ ...body, content: body.content ?? '' }], { clientID: ctx.actor.rootID }) };
    },
    'PUT /announcement': async ({ ctx, body }) => {
      const store = ctx.store(announcementTable);
      checkWhole(announcementBody, await store.get(body.id), body);
      await store.set(body.id, body);
      return {};
    },
    'DELETE /announcements': ({ ctx, body }) => removeAll(ctx.store(announcementTable), body.ids),
  },
  { rows: { 'GET /announcements': announcementTable } },
);

export const currentAnnouncementCalls = implement(currentAnnouncements, {
  'GET /announcements': ({ ctx, query }) => ctx.store(currentTable).page(query),
});
