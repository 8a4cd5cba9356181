/**
 * A change whose maker saw another version of the row is refused and does nothing; without a word of it the last writer wins. Whatever a
 * call changes of a row, in its columns or beside it, raises the row's version: each field of a body is changed alone, and whoever saw the
 * version before that is late.
 */
import type { Mounted } from '#contract/kit/call.ts';
import { bare, defOf, fieldsOf, put, sendable } from './generate.ts';
import { pathOf, type Rig, type World } from './world.ts';

const listed = 'many rows of a list at once, each to the same state';
/** Changes that have no one version to speak of, each reviewed. */
export const ofMany: Readonly<Record<string, string>> = {
  'PATCH /{area}': 'a session, renewed',
  'PATCH /{area}/password': 'asks for the old one',
  'PUT /{area}/account/password': 'of another: replaces what nobody sees',
  'PATCH /client/node/status': listed,
  'PUT /client/nodes/geneva': listed,
  'PUT /client/nodes/log/rotate/time': listed,
  'PUT /client/nodes/memo': listed,
  'PUT /client/nodes/place': listed,
  'PUT /client/nodes/portType': listed,
  'PUT /offline/license': 'a signed file with a revision of its own: an older one is refused',
  'PATCH /client/site/status': listed,
  'PUT /client/site/expired': listed,
  'PUT /{area}/site/{siteID}/domains/modifyUpstreamIPs': listed,
  'PUT /client/site/limitations': listed,
  'PUT /client/site/product/change': listed,
  'PUT /client/site/product/refresh': listed,
  'PATCH /client/site/forceBackup': listed,
  'PUT /client/site/tags': listed,
  'PUT /{area}/site/{siteID}/domain/setting/tags': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/status': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/balance': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/originHost': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/autoSSL': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/forceSSL': listed,
  'PATCH /{area}/site/{siteID}/domain/setting/hsts': listed,
  'PUT /{area}/site/{siteID}/domains/module/cors': listed,
  'PUT /{area}/site/{siteID}/domains/module/customHeader': listed,
  'PUT /{area}/site/{siteID}/domains/module/proxyRewrite': listed,
  'PUT /{area}/site/{siteID}/domains/module/urlRedirect': listed,
  'PUT /{area}/site/{siteID}/module/urlRedirect/{moduleID}/redirects': 'rows with a version each, several in one body',
  'PUT /{area}/task/{taskID}/cancel': 'an action without fields: the state of the task says whether it may be',
  'PUT /{area}/task/{taskID}/retry': 'an action without fields: the state of the task says whether it may be',
};
const isSignedIn = (call: Mounted) => call.auth === 'any' || call.auth === 'session';
export const ofOne = (call: Mounted): boolean =>
  (call.method === 'PUT' || call.method === 'PATCH') && call.auth !== 'node' && !call.def.partOf && !(call.key in ofMany);
/** What it writes belongs to a row of its path. */
export const ofParts = (call: Mounted): boolean => call.def.partOf !== undefined && isSignedIn(call);

/** Fields that cannot be another alone, each reviewed. */
export const notAlone: Readonly<Record<string, string>> = {
  'PUT /admin/license/offline portType': 'it stays what it is once the licence is registered',
  'PUT /admin/license/offline installationID': 'the licence is bound to it',
  'PUT /{area}/site/{siteID}/certificate/{certificateID} certificate': 'it goes together with its key',
  'PUT /{area}/site/{siteID}/certificate/{certificateID} privateKey': 'it goes together with its certificate',
  'PUT /{area}/site/{siteID}/port/{portID} port': 'the zone has to have another, for the same scheme',
  'PUT /{area}/site/{siteID}/port/{portID} scheme': 'the zone has each port for one scheme',
  'PUT /{area}/site/{siteID}/setting/dns provider': 'each asks for credentials of its own',
  'PUT /{area}/account twoFactor': 'of somebody else it can only be taken off, where there is one',
  'PUT /client/setting/email username': 'it goes together with its password',
  'PUT /client/setting/system/oidc password': 'proves who asks, and is kept nowhere',
  'PUT /client/setting/email ownPassword': 'proves who asks, and is kept nowhere',
  'PUT /client/setting/system/outgoingURL ownPassword': 'proves who asks, and is kept nowhere',
  'PUT /client/setting/system/DBBackup ownPassword': 'proves who asks, and is kept nowhere',
  'PUT /client/setting/system/oidc issuer': 'another provider has another secret',
  'PUT /client/setting/system/accountVerify enabled': 'it can be asked for once a mail of the test went out',
};

type Body = Record<string, unknown>;
/** Bodies that differ from what may be there already, one field at a time. */
export function* varied(body: Body): Generator<Body> {
  yield body;
  for (const [name, value] of Object.entries(body)) {
    if (name === 'id') continue;
    if (name === 'memo') yield { ...body, memo: 'another' };
    if (typeof value === 'boolean') yield { ...body, [name]: !value };
    if (typeof value === 'number') yield { ...body, [name]: value + 1 };
    if (Array.isArray(value)) yield { ...body, [name]: value.length ? [] : [{ name: 'X-Another', value: '1', action: 'set' }] };
  }
}

/** Other values of one field, as far as its schema tells; what a rule refuses is tried in vain. */
function* others(schema: Parameters<typeof bare>[0], value: unknown): Generator<unknown> {
  const inner = bare(schema);
  const def = defOf(inner);
  const choices =
    def.type === 'enum'
      ? Object.values(def.entries!)
      : def.type === 'literal'
        ? def.values!
        : def.type === 'boolean'
          ? [true, false]
          : [];
  for (const one of choices) if (one !== value) yield one;
  if (def.type === 'union') for (const option of def.options!) yield* others(option, value);
  if (def.type === 'number') yield* [Number(value) + 1, Number(value) - 1];
  if (def.type === 'string')
    yield* ['another', '@another', `${String(value)}x`, '', 'another.test', 'another/', '198.51.100.7', '9.9.9.9', 'Asia/Tokyo'];
  if (def.type === 'array' && Array.isArray(value)) {
    yield [];
    if (value.length) for (const one of others(def.element!, value[0])) yield [one, ...value.slice(1)];
    else for (const one of others(def.element!, undefined)) yield [one];
  }
  if (def.type === 'object' && value !== null && typeof value === 'object')
    for (const { path, schema: field } of fieldsOf(inner))
      if (path.length === 1) for (const one of others(field, (value as Body)[path[0]!])) yield put(value, path, one);
  if (defOf(schema).type === 'nullable') yield null;
}

interface Reply {
  status: number;
  text: string;
  headers: Headers | Record<string, unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as the harness has it
  body: any;
}
const strangeVersion = '"999999999"';
const told = (reply: Reply) => `${reply.status} ${reply.text.slice(0, 200)}`;
const isLate = (reply: Reply) => reply.status === 409 && reply.body.code === 101003;
const named = (reply: Reply) => ((reply.body?.errorData ?? []) as { path: string; rule: string }[]).map(one => one.path);

export async function staleProblems(
  rig: Rig,
  calls: readonly Mounted[],
  world: World,
): Promise<{ problems: string[]; tried: number }> {
  const problems: string[] = [];
  let tried = 0;
  for (const call of calls) {
    const line = `${call.method} ${call.path}`;
    const say = (text: string) => void problems.push(`${line} ${text}`);
    const sender = (ids: Record<string, number>) => (body: unknown, version?: string) => {
      const { headers, ...sent }: { headers?: Record<string, string> } = sendable(call, body);
      return rig.api.call(call.method, pathOf(call, ids), {
        token: world.people[call.area!].token,
        ...sent,
        headers: { ...headers, ...(version === undefined ? {} : { 'if-match': version }) },
      }) as Promise<Reply>;
    };
    if (ofParts(call)) await partProblems(rig, call, world, sender, say);
    else if (ofOne(call)) await rowProblems(rig, call, world, sender, say);
    else continue;
    tried++;
  }
  return { problems, tried };
}

type Sender = (ids: Record<string, number>) => (body: unknown, version?: string) => Promise<Reply>;
type Say = (text: string) => void;

async function rowProblems(rig: Rig, call: Mounted, world: World, sender: Sender, say: Say): Promise<void> {
  const { ids, body: made } = await rig.request(call, world);
  const send = sender(ids);
  let body = made as Body;
  let stale = await send(body, strangeVersion);
  for (const other of varied(made as Body)) {
    if (stale.status === 409) break;
    body = other;
    stale = await send(body, strangeVersion);
  }
  const fields = stale.body?.errorData as { path: string; rule: string }[] | undefined;
  if (!isLate(stale) || !fields?.length || fields.some(one => one.rule !== 'stale'))
    say(`of a version nobody saw: ${told(stale)}`);
  else {
    const sent = Object.keys(body);
    const strange = named(stale).filter(path => !sent.includes(path));
    if (strange.length) say(`names fields nobody sent: ${strange.join(', ')}`);
    // it changed nothing: the very same differs once more, and is told the same version
    const again = await send(body, '"999999998"');
    if (again.text !== stale.text) say(`refused, and yet something is another: ${stale.text} ${again.text}`);
    const right = await send(body, `"${stale.body.extra.version}"`);
    if (right.status !== 200) say(`of the version it was told: ${told(right)}`);
    else await fieldProblems(rig, call, world, ids, body, send, say);
  }
  const broken = await send(body, '7');
  if (broken.status !== 400 || broken.body.errorData?.[0]?.path !== 'If-Match') say(`with If-Match: 7: ${told(broken)}`);
}

/** Each field alone, against a row that holds `body`. */
async function fieldProblems(
  rig: Rig,
  call: Mounted,
  world: World,
  ids: Record<string, number>,
  body: Body,
  send: ReturnType<Sender>,
  say: Say,
): Promise<void> {
  const shape = defOf(call.def.body).shape!;
  const isKey = (name: string) => /^(id|accountID)$/.test(name);
  const base = Object.fromEntries(
    Object.entries(body).filter(([name]) => isKey(name) || defOf(shape[name]!).type !== 'optional'),
  );
  const another = (await rig.body(call, world, ids)) as Body;
  for (const [name, schema] of Object.entries(shape)) {
    if (isKey(name) || body[name] === undefined || `${call.key} ${name}` in notAlone) continue;
    let isSeen = false;
    for (const value of [another[name], ...others(schema, body[name])]) {
      if (value === undefined) continue;
      const probe = await send({ ...base, [name]: value }, strangeVersion);
      if (!isLate(probe) || !named(probe).includes(name)) continue;
      const strange = named(probe).filter(path => path !== name && !(path in base));
      if (strange.length) say(`${name} alone names fields nobody sent: ${strange.join(', ')}`);
      const done = await send({ ...base, [name]: value });
      if (done.status !== 200) continue;
      isSeen = true;
      const late = await send({ ...base, [name]: body[name] }, `"${probe.body.extra.version}"`);
      if (!isLate(late) || !named(late).includes(name))
        say(`${name} changed alone, and who saw the version before it: ${told(late)}`);
      await send({ ...base, [name]: body[name] });
      break;
    }
    if (!isSeen) say(`${name}: no other value was taken, so nobody knows whether it raises the version; say in notAlone why`);
  }
}

/** Two calls of the same kind, as two people make them from one version; who goes on says the one it was answered. */
async function partProblems(rig: Rig, call: Mounted, world: World, sender: Sender, say: Say): Promise<void> {
  const [first, second] = [await rig.request(call, world), await rig.request(call, world)];
  const send = sender(first.ids);
  if (call.params.some(name => first.ids[name] !== second.ids[name])) return say('of two rows');
  const stale = await send(first.body, strangeVersion);
  if (!isLate(stale)) return say(`of a version nobody saw: ${told(stale)}`);
  const sent = Object.keys(first.body as Body);
  if (named(stale).some(path => !sent.includes(path))) say(`names fields nobody sent: ${named(stale).join()}`);
  const { version } = stale.body.extra as { version: number };
  const done = await send(first.body, `"${version}"`);
  const etag = String((done.headers as Record<string, unknown>)['etag']);
  if (done.status !== 200 || etag !== `"${version + 1}"`) return say(`raises no version: ${told(done)} ETag ${etag}`);
  const late = await send(second.body, `"${version}"`);
  if (!isLate(late)) say(`after another like it, of the version before: ${told(late)}`);
  const goneOn = await send(second.body, etag);
  if (goneOn.status !== 200) say(`of the version it was told: ${told(goneOn)}`);
  const broken = await send(second.body, '7');
  if (broken.status !== 400) say(`with If-Match: 7: ${told(broken)}`);
}
