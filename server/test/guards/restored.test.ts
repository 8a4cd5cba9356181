/** What a restore brings back is said of every table: what is open in one may have been ended after the backup. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { changedTables } from '#server/store/forget.ts';
import { migratedDatabase } from '#system/engines.ts';

/**
 * Brought back as they were: what people set, what was made of it, and what happened until then. Nothing in them is open so that its end
 * after the backup would count: tasks and commands to nodes end by themselves, and go on where they were.
 */
const kept = `
  account ack acmeAccount acmeChallenge acmeLimit acmeOrder acmeRecord announcement answerChange apiToken audit authenticator
  autoCertificate backupRun blacklist brand brandImage cacheRule certificate cname cnameGroup cnameSeen cnameSite compileError
  databaseBackup dnsSecondary dnsSetting domain domainModule errorPage extraTrafficPlan frequency geoSource group groupAnswer groupUnread
  healthProbe identity license licenseClock licenseOrder licenseSerial limitReq line lineNode lineVirtualNode mailServer module nodeCommand
  nodeOffer nodeSub nodeUpgrade noticeEvent noticePerson offlineLicense oidc originDown originTold passkey passkeyHandle port
  portUpstream product publication purgeTask rate redirect relayDoor role scopedSetting setting siteDNS siteProduct siteUser
  systemErrorPage systemFrequency task taskLine telegram trafficCalendar trafficCount trafficDraw trafficMonth upstream
  userAgent virtualNode virtualNodeRecord webhook whitelist zeroSSL zoneAccount zoneCanary zonePort`
  .trim()
  .split(/\s+/);

const problemsOf = (tables: readonly string[], keeps: readonly string[], changes: readonly string[]): string[] => [
  ...tables.filter(table => !keeps.includes(table) && !changes.includes(table)).map(table => `${table} is named nowhere`),
  ...keeps.filter(table => changes.includes(table)).map(table => `${table} is named as both`),
  ...[...keeps, ...changes].filter(table => !tables.includes(table)).map(table => `there is no table ${table}`),
];

test('every table is named as kept or as changed by a restore', async () => {
  const client = new pg.Client({ connectionString: await migratedDatabase() });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace and relname <> 'migration' order by 1`,
    );
    const tables = rows.map(row => row.name);
    assert.deepEqual(problemsOf(tables, kept, changedTables), []);
    assert.deepEqual(problemsOf([...tables, 'pass'], [...kept, 'gone', 'session'], changedTables), [
      'pass is named nowhere',
      'session is named as both',
      'there is no table gone',
    ]);
  } finally {
    await client.end();
  }
});
