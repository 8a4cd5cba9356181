/** The largest valid input of every call is taken, or refused by a rule of the house; what was taken reads back as it was sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Mounted } from '#contract/kit/call.ts';
import { formatIP, parseIP } from '#contract/rules.ts';
import type { Reply } from '../harness.ts';
import { defOf, fieldsOf, generate, idSlots, sendable } from './generate.ts';
import { largest } from './largest.ts';
import { rowOf } from './lists.ts';
import { calls, clean, shard, stage } from './stage.ts';
import { pathOf, type Rig, type World } from './world.ts';

/** Nobody waits longer for an answer: a deadline for what would never end, no measure of anything. */
const deadlineMs = 30_000;
const usualBytes = 1_048_576;
const isClosed = (call: Mounted) => call.auth === 'any' || call.auth === 'session';
type Row = Record<string, unknown>;
/** Fields that say what is there already: another text would be another question. */
const known = new Set(['oldPassword', 'permissionKeys', 'urls', 'names']);

export async function largestProblems(
  rig: Rig,
  asked: readonly Mounted[],
  world: World,
  all: readonly Mounted[] = asked,
  limitMs = deadlineMs,
): Promise<{ problems: string[]; taken: number; read: number }> {
  const problems: string[] = [];
  const [taken, read] = [new Set<string>(), new Set<string>()];
  let serial = 0;
  const within = async (work: Promise<Reply>): Promise<Reply | undefined> => {
    const timer = Promise.withResolvers<undefined>();
    const waiting = setTimeout(timer.resolve, limitMs);
    return Promise.race([work, timer.promise]).finally(() => clearTimeout(waiting));
  };
  for (const call of asked.filter(one => isClosed(one) && !one.def.upload)) {
    const line = `${call.method} ${call.path}`;
    const { body: schema, query } = call.def;
    // a site of its own: what is large fills it
    const own = await rig.world(`${world.name}${++serial}`, world.people);
    const { ids, body: sample } = await rig.request(call, own);
    const token = world.people[call.area!].token;
    const send = (options: object, more = '') =>
      within(rig.api.call(call.method, pathOf(call, ids) + more, { token, stream: call.def.as === 'sse', ...options }));
    const judge = (reply: Reply | undefined, what: string): boolean => {
      if (!reply) problems.push(`${line} with ${what}: no answer within ${limitMs / 1000} s`);
      else if (reply.status >= 500 || (reply.status >= 400 && typeof reply.body?.code !== 'number') || rig.api.failures.length)
        problems.push(
          `${line} with ${what}: ${reply.status} ${reply.text.slice(0, 200)} ${rig.api.failures.splice(0).join(' ').slice(0, 300)}`,
        );
      return reply?.status === 200;
    };

    if (query) {
      const slots = new Set(idSlots(query).map(slot => slot.path[0]));
      const keep = (path: readonly string[]) =>
        slots.has(path[0]!) || ['page', 'pageSize', 'sortBy', 'orderBy'].includes(path[0]!);
      const right = Object.fromEntries(Object.entries(generate(query, world.name) as Row).filter(([name]) => !keep([name])));
      for (const [name, value] of Object.entries(largest(query, right, 8000, keep) as Row)) {
        const values = Array.isArray(value) ? value : [value];
        const text = values.map(one => `${name}=${encodeURIComponent(String(one))}`).join('&');
        judge(await send(sendable(call, sample), `?${text}`), `the longest ${name}`);
      }
    }
    if (!schema || call.method === 'GET') continue;

    const slots = idSlots(schema).map(slot => slot.path[0]!);
    const keep = ([name]: readonly string[]) => slots.includes(name!) || known.has(name!);
    const isDeep = fieldsOf(schema).some(field => field.path.includes('0') && defOf(field.schema).type === 'array');
    for (const order of isDeep ? (['inner', 'outer'] as const) : (['inner'] as const)) {
      let bytes = call.def.bodyLimit ?? usualBytes;
      // what all rows of a site may weigh is no bound of one body: half of it, until it is taken
      for (let attempt = 0; attempt < 8; attempt++) {
        const right = attempt || order === 'outer' ? (await rig.request(call, own)).body : sample;
        const body = largest(schema, right, bytes, keep, order) as Row;
        const reply = await send({ body });
        if (!judge(reply, 'the largest body')) {
          bytes = Math.floor(Math.min(bytes, JSON.stringify(body).length) / 2);
          if (reply?.status === 400) continue;
          break;
        }
        taken.add(line);
        const problem = await readBack(rig, call, all, ids, body, reply!, token);
        if (problem === undefined) read.add(line);
        else if (problem) problems.push(`${line}: ${problem}`);
        break;
      }
    }
  }
  return { problems, taken: taken.size, read: read.size };
}

/** undefined: reads back as it was sent; '': no call of its resource shows it. */
async function readBack(
  rig: Rig,
  call: Mounted,
  all: readonly Mounted[],
  ids: Record<string, number>,
  body: Row,
  reply: Reply,
  token: string,
): Promise<string | undefined> {
  const items =
    (Object.values(body).find(value => Array.isArray(value) && typeof value[0] === 'object') as Row[] | undefined) ?? [];
  const made = (reply.body?.ids as number[] | undefined) ?? [];
  const named = (body['id'] as number | undefined) ?? (call.path.endsWith('}') ? ids[call.params.at(-1)!] : undefined);
  const wanted = new Map<number, Row>();
  if (items.length && items.length === made.length) for (const [index, id] of made.entries()) wanted.set(id, items[index]!);
  else if (made.length === 1) wanted.set(made[0]!, body);
  else if (named !== undefined) wanted.set(named, body);
  let seen = 0;
  for (const reader of all.filter(
    one =>
      one.group === call.group &&
      one.area === call.area &&
      one.method === 'GET' &&
      one.params.every(name => name in ids) &&
      // what answers nothing without being asked for something more shows no row
      (!one.def.query || z.safeParse(one.def.query, {}).success),
  )) {
    const isSame = reader.path === call.path && !rowOf(reader);
    if (!isSame && !wanted.size) continue;
    const asked = defOf(reader.def.query ?? reader.def.answer).shape ?? {};
    // the newest first, where an order can be asked for
    const shown = 'pageSize' in asked ? `?pageSize=500${'sortBy' in asked ? '&sortBy=id&orderBy=desc' : ''}` : '';
    const answer = await rig.api.call('GET', pathOf(reader, ids) + shown, {
      token,
      stream: reader.def.as === 'sse',
    });
    if (answer.status !== 200) return `${reader.path} is answered by ${answer.status} ${answer.text.slice(0, 200)}`;
    const rows: Row[] = isSame ? [answer.body] : (answer.body?.data ?? (Array.isArray(answer.body) ? answer.body : []));
    for (const row of rows) {
      const sent = isSame ? body : wanted.get(row['id'] as number);
      if (!sent) continue;
      seen++;
      for (const [name, value] of Object.entries(sent))
        if (name in row && !asSets.has(`${call.key} ${name}`) && !isDeepStrictEqual(plain(value), plain(row[name])))
          return `${reader.path} shows ${name} as ${JSON.stringify(row[name]).slice(0, 150)} instead of ${JSON.stringify(value).slice(0, 150)}`;
    }
  }
  return seen ? undefined : '';
}
/** Lists that count each thing once, and are read back so, in an order of their own (server/test/notices.test.ts reads what was chosen). */
const asSets: ReadonlySet<string> = new Set([
  'POST /{area}/notices/choices choices',
  'PUT /{area}/setting/webhook kinds',
  'PUT /{area}/setting/tg kinds',
]);
/** What trims at its ends says so by its schema; times and addresses are written in one form. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'string') {
    if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString();
    const address = parseIP(value.trim());
    return address ? formatIP(address) : value.trim();
  }
  return JSON.parse(JSON.stringify(value));
};

/** One part of the calls; the files `largest-bodies-*.test.ts` take a part each. */
export function largestBodies(part: number, parts: number): void {
  const on = stage();
  test(`the largest valid body of every call is taken or cleanly refused, and what is taken reads back (${part} of ${parts})`, async () => {
    const { problems, taken, read } = await largestProblems(on.rig, shard(calls, part, parts), on.mine, calls);
    clean(problems);
    assert.ok(taken > 150 / parts && read > 75 / parts, `only ${taken} taken, ${read} read back`);
    assert.deepEqual(on.api.failures, []);
  });
}
