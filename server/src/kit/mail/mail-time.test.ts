import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTime } from './mail-time.ts';

test('a mail says the time where its reader is, and names the place', () => {
  const at = new Date('2026-03-29T00:59:30Z');
  assert.equal(mailTime({ timezone: 'UTC' }, at), '2026-03-29 00:59 UTC');
  assert.equal(mailTime({ timezone: 'Asia/Taipei' }, at), '2026-03-29 08:59 Asia/Taipei');
  assert.equal(mailTime({ timezone: 'America/St_Johns' }, at), '2026-03-28 22:29 America/St_Johns');
  assert.equal(mailTime({ timezone: 'Europe/Berlin' }, new Date('2026-03-29T01:00:00Z')), '2026-03-29 03:00 Europe/Berlin');
  // a zone of PostgreSQL's list that is none of ours keeps no mail back
  assert.equal(mailTime({ timezone: 'Mars/Olympus_Mons' }, at), '2026-03-29 00:59 UTC');
});
