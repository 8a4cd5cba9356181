/** The operator's months: every month of a leap year and of another, in zones west and east of Greenwich, with and without summer time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type Months, monthColumns } from '#server/kit/months.ts';
import { type Database, openDatabase, rows } from '#server/store/db.ts';
import { freshDatabase } from '#system/engines.ts';

let database: Database;
before(async () => {
  database = openDatabase(await freshDatabase(), 1);
});
after(() => database?.close());

const zones = [
  'Asia/Taipei',
  'America/New_York',
  'Europe/London',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'UTC',
];
const two = (n: number) => String(n).padStart(2, '0');

for (const zone of zones)
  test(`months of ${zone}`, async () => {
    // this process knows time zones too, and reckons them by other code than the database
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    const local = (at: string | number) => format.format(new Date(at));
    let seen = 0;
    for (const year of [2023, 2024])
      for (let month = 1; month <= 12; month++) {
        // begin, 29th of February and the last moments of the month among them, whatever the offset of the zone
        const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
        const instants = [
          Date.UTC(year, month - 1, 1),
          Date.UTC(year, month - 1, 15, 12),
          Date.UTC(year, month - 1, days, 1),
          Date.UTC(year, month - 1, days, 23, 59, 59, 999),
        ];
        for (const instant of instants) {
          const [found] = await rows<Months>(
            database.db,
            sql`select ${monthColumns(sql`${zone}::text`, sql`${new Date(instant).toISOString()}::timestamptz`)}`,
          );
          const [y, m] = local(instant).slice(0, 7).split('-').map(Number) as [number, number];
          const begin = (offset: number) => {
            const date = new Date(Date.UTC(y, m - 1 + offset, 1));
            return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-01 00:00:00`;
          };
          const said = new Date(instant).toISOString();
          assert.equal(local(found!.last), begin(-1), `the month before, at ${said}`);
          assert.equal(local(found!.current), begin(0), `this month, at ${said}`);
          assert.equal(local(found!.next), begin(1), `the next month, at ${said}`);
          assert.ok(Date.parse(found!.current) <= instant && instant < Date.parse(found!.next));
          seen++;
        }
      }
    assert.equal(seen, 96);
  });
