/** A change whose maker saw another version of the row is refused and does nothing; without a word of it the last writer wins. */
import type { Mounted } from '#contract/kit/call.ts';
import { sendable } from './generate.ts';
import { pathOf, type Rig, type World } from './world.ts';

/** A change of many rows, or of none that anybody sees: there is no one version to speak of. */
export const ofMany: Readonly<Record<string, string>> = {
  'PATCH /{area}': 'a session, renewed',
  'PATCH /{area}/password': 'asks for the old one',
  'PUT /{area}/account/password': 'of another: replaces what nobody sees',
};
const fieldsOf = (call: Mounted) =>
  Object.keys((call.def.body as { _zod?: { def: { shape?: object } } } | undefined)?._zod?.def.shape ?? {});
/** A list of ids, or of rows, in the body. */
const isOfMany = (call: Mounted) => {
  const names = fieldsOf(call);
  return names.some(name => /^(ids|\w+IDs|items|upstreams)$/.test(name)) && !names.includes('id');
};
export const ofOne = (call: Mounted): boolean =>
  (call.method === 'PUT' || call.method === 'PATCH') && call.auth !== 'node' && !isOfMany(call) && !(call.key in ofMany);

/** Bodies that differ from what may be there already, one field at a time. */
function* varied(body: Record<string, unknown>): Generator<Record<string, unknown>> {
  yield body;
  for (const [name, value] of Object.entries(body)) {
    if (name === 'id') continue;
    if (name === 'memo') yield { ...body, memo: 'another' };
    if (typeof value === 'boolean') yield { ...body, [name]: !value };
    if (typeof value === 'number') yield { ...body, [name]: value + 1 };
    if (Array.isArray(value)) yield { ...body, [name]: value.length ? [] : [{ name: 'X-Another', value: '1', action: 'set' }] };
  }
}

export async function staleProblems(
  rig: Rig,
  calls: readonly Mounted[],
  world: World,
): Promise<{ problems: string[]; tried: number }> {
  const problems: string[] = [];
  let tried = 0;
  for (const call of calls.filter(ofOne)) {
    const { ids, body: made } = await rig.request(call, world);
    let body = made as Record<string, unknown>;
    const send = (version?: string) =>
      rig.api.call(call.method, pathOf(call, ids), {
        token: world.people[call.area!].token,
        ...sendable(call, body),
        ...(version === undefined ? {} : { headers: { 'if-match': version } }),
      });
    const line = `${call.method} ${call.path}`;
    let stale = await send('"999999999"');
    for (const other of varied(made as Record<string, unknown>)) {
      if (stale.status === 409) break;
      body = other;
      stale = await send('"999999999"');
    }
    const fields = stale.body?.errorData as { path: string; rule: string }[] | undefined;
    tried++;
    if (stale.status !== 409 || stale.body.code !== 101003 || !fields?.length || fields.some(one => one.rule !== 'stale'))
      problems.push(`${line} of a version nobody saw: ${stale.status} ${stale.text.slice(0, 200)}`);
    else {
      const sent = Object.keys(body);
      const strange = fields.filter(one => !sent.includes(one.path)).map(one => one.path);
      if (strange.length) problems.push(`${line} names fields nobody sent: ${strange.join(', ')}`);
      // it changed nothing: the very same differs once more, and is told the same version
      const again = await send('"999999998"');
      if (again.text !== stale.text) problems.push(`${line} refused, and yet something is another: ${stale.text} ${again.text}`);
      const told = await send(`"${stale.body.extra.version}"`);
      if (told.status !== 200) problems.push(`${line} of the version it was told: ${told.status} ${told.text.slice(0, 200)}`);
    }
    const broken = await send('7');
    if (broken.status !== 400 || broken.body.errorData?.[0]?.path !== 'If-Match')
      problems.push(`${line} with If-Match: 7: ${broken.status} ${broken.text.slice(0, 200)}`);
  }
  return { problems, tried };
}
