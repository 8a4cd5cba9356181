/** The guards: each calls every mounted call over HTTP and answers what is wrong, one sentence a fault. */
import type * as z from 'zod/mini';
import { areas, type Area, type Mounted } from '#contract/kit/call.ts';
import type { Api, Reply } from '../harness.ts';
import { bare, defOf, fieldsOf, generate, idSlots, put, sendable, type Slot } from './generate.ts';
import { kindOfTable, lists, pathOf, queryText, type Rig, type World } from './world.ts';

/** No row has this id. */
export const unknownID = 2_000_000_019;
const sample = (call: Mounted) => pathOf(call, Object.fromEntries(call.params.map(name => [name, unknownID])));
const isClosed = (call: Mounted) => call.auth === 'any' || call.auth === 'session';
const lineOf = (call: Mounted) => `${call.method} ${call.path}`;
const told = (reply: Reply) => `${reply.status} ${reply.text.slice(0, 200)}`;

/** Whoever has no right to a call is refused with this error, whatever the request holds. */
async function refused(
  api: Api,
  calls: readonly Mounted[],
  who: string,
  code: number,
  status: number,
  token: (call: Mounted) => string | undefined,
): Promise<string[]> {
  const problems: string[] = [];
  for (const call of calls.filter(isClosed)) {
    const bearer = token(call);
    // nothing of the body may be read for them: a broken one does not change the answer
    for (const raw of ['{}', '{"broken'].slice(0, call.method === 'GET' ? 1 : 2)) {
      const reply = await api.call(call.method, sample(call), {
        ...(bearer === undefined ? {} : { token: bearer }),
        ...(call.method === 'GET' ? {} : { raw }),
      });
      if (reply.status !== status || reply.body?.code !== code)
        problems.push(`${lineOf(call)} for ${who}: ${told(reply)} instead of ${code}`);
    }
  }
  return problems;
}

export const strangers = (api: Api, calls: readonly Mounted[]) => refused(api, calls, 'a stranger', 101012, 401, () => undefined);
export const brokenTokens = (api: Api, calls: readonly Mounted[], token: string) =>
  refused(api, calls, 'a broken token', 101013, 401, () => token);
export const expiredTokens = (api: Api, calls: readonly Mounted[], token: string) =>
  refused(api, calls, 'an expired token', 101014, 401, () => token);
export const stopped = (api: Api, calls: readonly Mounted[], tokens: Record<Area, string>) =>
  refused(api, calls, 'a stopped account', 101008, 403, call => tokens[call.area!]);
export async function otherAreas(api: Api, calls: readonly Mounted[], tokens: Record<Area, string>): Promise<string[]> {
  const problems: string[] = [];
  for (const area of areas)
    problems.push(
      ...(await refused(
        api,
        calls.filter(call => call.area !== area),
        `somebody of ${area}`,
        101018,
        403,
        () => tokens[area],
      )),
    );
  return problems;
}

/** `hold` gives the sub-account of the area these keys and no others. */
export async function keys(
  api: Api,
  calls: readonly Mounted[],
  tokens: Record<Area, string>,
  hold: (area: Area, keys: string[]) => Promise<void>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const area of areas) {
    const own = calls.filter(call => call.area === area && isClosed(call));
    const all = [...new Set(own.flatMap(call => call.permission ?? []))];
    for (const key of all) {
      const guarded = own.filter(call => call.permission === key);
      await hold(
        area,
        all.filter(other => other !== key),
      );
      problems.push(...(await refused(api, guarded, `somebody with all keys but ${key}`, 101018, 403, () => tokens[area])));
      await hold(area, [key]);
      for (const call of guarded) {
        const reply = await api.call(call.method, sample(call), { token: tokens[area], ...(call.def.body ? { body: {} } : {}) });
        if (reply.body?.code === 101018) problems.push(`${lineOf(call)} with the key ${key}: ${told(reply)}`);
      }
    }
    // calls that ask for no key are open to somebody without any
    await hold(area, []);
    for (const call of own.filter(one => one.permission === null)) {
      const reply = await api.call(call.method, sample(call), { token: tokens[area], ...(call.def.body ? { body: {} } : {}) });
      if (reply.body?.code === 101018)
        problems.push(`${lineOf(call)} asks for no key, but refuses somebody without any: ${told(reply)}`);
    }
  }
  return problems;
}

interface Expected {
  path?: string;
  rule?: string;
  status?: number;
}
/** 101003, and the field by its path; a path may be answered more exactly than it was broken. */
function parameterProblem(call: Mounted, what: string, reply: Reply, { path, rule, status = 400 }: Expected): string[] {
  const data = reply.body?.errorData as { path: string; rule: string }[] | undefined;
  const named =
    path === undefined ||
    data?.some(one => (one.path === path || one.path.startsWith(`${path}.`)) && (rule === undefined || one.rule === rule));
  return reply.status === status && reply.body?.code === 101003 && named
    ? []
    : [
        `${lineOf(call)} with ${what}: ${told(reply)} instead of 101003${path === undefined ? '' : ` for ${path || 'the whole body'}`}`,
      ];
}

/** What each type of field cannot be. */
const wrong: Record<string, unknown[]> = {
  string: [17, {}, ['x'], true],
  number: ['x', true, {}],
  int: ['x', 1.5, true, {}],
  boolean: ['true', 1],
  enum: ['none of them', 17, {}],
  literal: ['none of them', 17_171_717],
  array: ['x', {}, 5],
  object: ['x', 5, []],
};
const half = '\ud83d';

/** Broken bodies and queries of a signed-in caller; `limit` is the largest body in bytes. */
export async function inputs(rig: Rig, calls: readonly Mounted[], world: World): Promise<string[]> {
  const problems: string[] = [];
  for (const call of calls) {
    const token = call.area && isClosed(call) ? world.people[call.area].token : undefined;
    const ids = isClosed(call) ? await rig.ids({ ...call, method: 'PUT' }, world) : {};
    const path = pathOf(call, ids);
    const send = (options: Parameters<Api['call']>[2], query = '') =>
      rig.api.call(call.method, path + query, { ...(token ? { token } : {}), ...options });
    const expect = async (what: string, options: Parameters<Api['call']>[2], expected: Expected, query = '') =>
      problems.push(...parameterProblem(call, what, await send(options, query), expected));

    const { body: schema, query } = call.def;
    const body = schema ? generate(schema, world.name) : undefined;
    await expect('an unknown query key', sendable(call, body), { path: 'nobodyKnows', rule: 'unknownKey' }, '?nobodyKnows=1');
    await expect('a query key called __proto__', sendable(call, body), {}, '?__proto__=1&__proto__=2');
    if (query)
      for (const { path: field, schema: inner } of fieldsOf(query)) {
        const { type } = defOf(inner);
        if (field.length > 1 || (type === 'array' && defOf(bare(defOf(inner).element!)).type === 'string')) continue;
        const text = type === 'string' ? '%00' : 'no-such';
        await expect(`${text} in the query`, sendable(call, body), { path: field[0]! }, `?${field[0]}=${text}`);
      }
    for (const name of call.params)
      for (const bad of ['abc', '0', '-1', '1.5', '1e3', '99999999999999999999', '%00', '1%2F2']) {
        const reply = await rig.api.call(call.method, pathOf(call, { ...ids, [name]: bad }), {
          ...(token ? { token } : {}),
          ...sendable(call, body),
        });
        if (reply.status !== 404 || reply.body?.code !== 101004)
          problems.push(`${lineOf(call)} with ${name}=${bad}: ${told(reply)} instead of 101004`);
      }

    if (call.method === 'GET') continue;
    if (call.def.upload) {
      await expect('JSON instead of a form', { body: {} }, { path: '', status: 415 });
      await expect('an unknown field', sendable(call, { ...(body as object), nobodyKnows: 1 }), {
        path: 'nobodyKnows',
        rule: 'unknownKey',
      });
      for (const { path: field, schema: inner } of fieldsOf(schema!)) {
        const { type } = defOf(inner);
        if (field.length > 1 || type === 'array' || type === 'object') continue;
        const [value, status] =
          type === 'custom' ? [{ name: 'x', type: 'x/unheard-of', bytes: new Uint8Array(1) }, 400] : ['a\0b', 400];
        await expect(`what cannot be in ${field[0]}`, sendable(call, { ...(body as object), [field[0]!]: value }), {
          path: field[0]!,
          status,
        });
        if (type === 'custom') {
          const large = { name: 'x', type: 'image/png', bytes: new Uint8Array((call.def.bodyLimit ?? 1_048_576) + 1) };
          await expect(`a file too large in ${field[0]}`, sendable(call, { ...(body as object), [field[0]!]: large }), {
            path: '',
            status: 413,
          });
        }
      }
      continue;
    }
    await expect('broken JSON', { raw: '{"a":' }, { path: '', rule: 'json' });
    await expect('a body that is no JSON', { raw: 'a=b', headers: { 'content-type': 'text/plain' } }, { path: '', status: 415 });
    await expect(
      'a body too large',
      { raw: JSON.stringify({ a: 'x'.repeat(call.def.bodyLimit ?? 1_048_576) }) },
      { path: '', status: 413 },
    );
    await expect('a number as body', { raw: '17' }, { path: '' });
    await expect('a list as body', { raw: '[{}]' }, { path: '' });
    await expect(
      'an unknown field',
      { body: { ...(body as object), nobodyKnows: 1 } },
      { path: 'nobodyKnows', rule: 'unknownKey' },
    );
    await expect('a field called __proto__', { raw: '{"__proto__": {"isRoot": true}}' }, {});
    if (!schema) continue;
    for (const { path: field, schema: inner } of fieldsOf(schema)) {
      const at = field.join('.');
      const { type, format } = defOf(inner);
      // every whole number has a format (zod: safeint)
      for (const value of wrong[type === 'number' && format ? 'int' : type] ?? [])
        await expect(`${JSON.stringify(value)} in ${at}`, { body: put(body, field, value) }, { path: at });
      if (type === 'string')
        for (const value of ['a\0b', `a${half}b`])
          await expect(`text that cannot be kept in ${at}`, { body: put(body, field, value) }, { path: at });
    }
    for (const key of requiredKeys(schema)) {
      const without = Object.fromEntries(Object.entries(body as object).filter(([name]) => name !== key));
      await expect(`no ${key}`, { body: without }, { path: key, rule: 'required' });
    }
  }
  return problems;
}

const requiredKeys = (schema: z.ZodMiniType) =>
  Object.entries(defOf(schema).shape ?? {}).flatMap(([key, field]) => (defOf(field).type === 'optional' ? [] : [key]));

export interface Pair {
  name: string;
  /** who calls, with rows it may see */
  mine: World;
  /** rows it must not see */
  theirs: World;
  token: (area: Area) => string | undefined;
  /** which slots the pair says something about */
  only?: (call: Mounted, kind: string | Mounted) => boolean;
  /** afterwards the untouched request must succeed, which shows that the refusals were for the id's sake */
  proves?: boolean;
}

/** A foreign id wherever one may stand is answered byte for byte as one that does not exist. */
export async function isolation(
  rig: Rig,
  calls: readonly Mounted[],
  pair: Pair,
): Promise<{ problems: string[]; compared: number }> {
  const problems: string[] = [];
  let compared = 0;
  for (const call of calls) {
    const closed = isClosed(call);
    const token = closed ? pair.token(call.area!) : undefined;
    if (closed && token === undefined) continue;
    const theirWorld = pair.theirs;
    const slots = [
      ...call.params.map(name => ({
        where: 'path' as const,
        path: [name],
        many: false,
        kind: kindOfTable(rig.tableOf(call, name)) as string | Mounted,
      })),
      ...(call.def.query ? idSlots(call.def.query) : []).map(slot => ({
        where: 'query' as const,
        ...slot,
        kind: rig.kindOf(call, slot),
      })),
      ...(call.def.body && closed ? idSlots(call.def.body) : []).map(slot => ({
        where: 'body' as const,
        ...slot,
        kind: rig.kindOf(call, slot),
      })),
    ].filter(slot => !rig.isShared(slot.kind, call.area) && (pair.only?.(call, slot.kind) ?? true));
    if (!slots.length && !pair.proves) continue;
    const request = await rig.request(call, pair.mine);
    // a row that was done may not be done again
    const usesUp = call.method === 'DELETE' || (call.def.errors ?? []).includes('multiple');
    const theirIDs = slots.length ? await rig.ids(call, theirWorld) : {};
    const send = (ids: Record<string, number>, body: unknown, query = queryText(request.query)) =>
      rig.api.call(call.method, pathOf(call, ids) + query, {
        stream: call.def.as === 'sse',
        ...(token ? { token } : {}),
        ...sendable(call, body),
      });

    for (const slot of slots) {
      const their = slot.where === 'path' ? theirIDs[slot.path[0]!]! : await rig.id(call, slot.kind, theirWorld, theirIDs);
      const variants: ((id: number) => Promise<Reply>)[] =
        slot.where === 'path'
          ? [id => send({ ...request.ids, [slot.path[0]!]: id }, request.body)]
          : slot.where === 'query'
            ? [id => send(request.ids, request.body, queryText({ ...request.query, [slot.path[0]!]: id }))]
            : bodyVariants(slot).map(make => async (id: number) => {
                // what is among others goes alone where rows are done one by one: the others are others each time
                const isFresh = slot.many && usesUp;
                // of what there is one of, the old one still stands
                const { ids, body } = isFresh ? await rig.request(call, pair.mine).catch(() => request) : request;
                return send(ids, make(body, id));
              });
      for (const variant of variants) {
        const unknown = await variant(unknownID);
        const foreign = await variant(their);
        compared++;
        const where = `${lineOf(call)} with ${pair.name} as ${slot.where} ${slot.path.join('.')}`;
        // a list of what could not be done names the id that was asked for
        const bare = (text: string) => text.replaceAll(`"${unknownID}"`, `"${their}"`).replace(/"taskID":\d+/, '"taskID":0'); // each its own
        const same = bare(unknown.text) === bare(foreign.text);
        if (unknown.status !== foreign.status || !same)
          problems.push(`${where}: ${told(foreign)}, but an unknown id gives ${told(unknown)}`);
        else if (foreign.status >= 500) problems.push(`${where}: ${told(foreign)}`);
        else if (slot.where !== 'query' && foreign.status < 400)
          problems.push(`${where}: taken as if it were there, ${told(foreign)}`);
      }
    }
    if (!pair.proves) continue;
    const right = usesUp ? await rig.request(call, pair.mine).catch(() => request) : request;
    const reply = await send(right.ids, right.body, queryText(right.query));
    if (reply.status !== 200)
      problems.push(`${lineOf(call)} with a request that is right: ${told(reply)} ${rig.api.failures.splice(0).join(' ')}`);
    // an admin may see every account, and the vendor's first page counts what hangs on operators
    const seesAll = call.area === 'admin' && (lists[call.key]?.kind === 'account' || lineOf(call) === 'GET /admin/installation');
    if (!seesAll && reply.text.includes(theirWorld.name))
      problems.push(`${lineOf(call)} shows rows of ${pair.name}: ${reply.text.slice(0, 300)}`);
  }
  return { problems, compared };
}

/** The id alone, and among others that are right. */
function bodyVariants(slot: Slot): ((body: unknown, id: number) => unknown)[] {
  if (!slot.many) return [(body, id) => put(body, slot.path, id)];
  const own = (body: unknown) => slot.path.reduce((at, step) => (at as Record<string, unknown>)[step], body) as number[];
  return [(body, id) => put(body, slot.path, [id]), (body, id) => put(body, slot.path, [...(own(body) ?? []), id])];
}
