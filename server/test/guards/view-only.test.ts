/** Whoever may only look sees no secret in any answer, whichever call it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { areas, type Mounted, permissionKeys } from '#contract/kit/call.ts';
import { defOf, letsIn, sendable } from './generate.ts';
import { clean, stage, subAccounts, walks } from './stage.ts';
import { pathOf, queryText } from './world.ts';

const on = stage();
/** All rows are asked for: the walk makes more of some than a page shows. */
const isPaged = ({ def }: Mounted) => def.query !== undefined && 'pageSize' in (defOf(def.query).shape ?? {});
/** A root's own, as who sees which zones (decisions.md): no key opens it to others. */
const ofRoots = new Set(['GET /client/{clientId}/zones']);
const isView = (call: Mounted): boolean =>
  call.permission?.endsWith('.view') === true && call.def.owner !== true && !ofRoots.has(call.key);

test('secrets that stand wherever one can stand are in no answer to an account that holds keys to look alone', async () => {
  const { rig, api, mine } = on;
  const secret = letsIn(mine.name).value;
  const { tokens, accounts, hold } = await subAccounts(rig, mine);
  for (const area of areas)
    await hold(
      area,
      permissionKeys(groups, area).filter(key => key.endsWith('.view')),
    );
  // they see all that there is to see
  const see = async () => {
    await sql`insert into "zoneAccount" select id, ${accounts.client} from zone where "clientID" = ${mine.people.client.id} on conflict do nothing`.execute(
      api.database.db,
    );
    await sql`insert into "siteUser" select id, ${accounts.user} from site where "userID" = ${mine.people.user.id} on conflict do nothing`.execute(
      api.database.db,
    );
  };

  const problems: string[] = [];
  for (const walk of walks) {
    let written = 0;
    for (const call of walk.filter(one => one.area && /^(POST|PUT|PATCH)$/.test(one.method))) {
      const { ids, body, query } = await rig.request(call, mine);
      if (!JSON.stringify(body ?? null).includes(secret)) continue;
      const reply = await api.call(call.method, pathOf(call, ids) + queryText(query), {
        token: mine.people[call.area!].token,
        ...sendable(call, body),
      });
      assert.equal(reply.status, 200, `${call.method} ${call.path} ${reply.text}`);
      written++;
    }
    assert.ok(written >= 6, `only ${written} calls took one`);

    let shown = 0;
    for (const call of walk.filter(one => one.area && isView(one))) {
      const { ids, body, query } = await rig.request(call, mine);
      await see();
      const ask = (token: string) =>
        api.call(call.method, pathOf(call, ids) + queryText(isPaged(call) ? { pageSize: 500, ...query } : query), {
          token,
          stream: call.def.as === 'sse',
          ...(body === undefined ? {} : sendable(call, body)),
        });
      const [whole, looked] = [await ask(mine.people[call.area!].token), await ask(tokens[call.area!])];
      if (looked.status !== 200) problems.push(`${call.method} ${call.path}: ${looked.status} ${looked.text.slice(0, 200)}`);
      if (looked.text.includes(secret)) problems.push(`${call.method} ${call.path} tells ${secret}`);
      if (whole.text.includes(secret)) shown++;
    }
    assert.ok(shown >= 8, `only ${shown} calls tell one to those who may edit it`);
  }
  clean(problems);
});
