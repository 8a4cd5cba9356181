/**
 * Fetches the owner's file of places and takes it as one that was uploaded. A file that is what it was is not fetched (RFC 9110, 13.1), or
 * not read; one that is refused leaves what there is. What it came to stands in the setting `geoFetched`, and nowhere the URL or the secret.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { brokenOf, Fail, failFields } from '#contract/errors.ts';
import { geoLimits, geoSourceLimits } from '#contract/limits.ts';
import { geoRefresh } from '#contract/resolution/geo-source.ts';
import { ruleOfRefusal } from '#contract/rules/address-policy.ts';
import { mailPolicy } from '../kit/mail/send.ts';
import { outbound, OutboundError } from '../kit/outbound.ts';
import { Sealed } from '../kit/sealed.ts';
import type { GeoTaken, Services } from '../kit/services.ts';
import { taskWork } from '../kit/task.ts';
import { plainText } from '../kit/text.ts';
import { row } from '../store/db.ts';
import { readSetting, writeSetting } from '../system/settings.ts';
import { GeoFileRefused, ownNameOf } from './geo/data.ts';
import { unpacked } from './geo/unpack.ts';
import { count } from './geo-data.ts';
import type { Fetched } from './geo-source.ts';

type Said = Pick<Fetched, 'etag' | 'modified'>;
type Outcome =
  | { what: 'unchanged'; said: Said | null; file: string; sha256: string }
  | { what: 'taken'; said: Said; file: string; sha256: string; bytes: number; taken: GeoTaken; dataAt: number }
  | { what: 'kept'; failure: Fail };

const at = (rule: Parameters<typeof failFields>[0][number]['rule'], bounds: Record<string, string | number>) =>
  failFields([{ path: 'url', rule, bounds }]);
const unread = (why: string) => at('geoFetchUnread', { why });
const tooLarge = () => at('geoFetchLarge', { mb: geoLimits.bytesMax / 1e6 });
const mbOf = (bytes: number) => Math.round(bytes / 1e4) / 100;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const timeOf = (ms: number) => (ms ? new Date(ms).toISOString() : null);

/** What people are told of a fetch that came to nothing. */
function failureOf(error: OutboundError): Fail {
  if (error.problem === 'tooLarge') return tooLarge();
  // it may be the host of a redirect
  const address = /^(\S+):\d+ may not/.exec(error.message)?.[1];
  if (error.kind && error.kind !== 'public' && address) return at(ruleOfRefusal(error.kind), { address });
  return at('geoFetchLost', { why: plainText(error.message, 200) });
}

interface Source {
  clientID: number;
  url: string;
  headerName: string;
  header: string | null;
}
async function fetched(services: Services, id: number, signal: AbortSignal): Promise<Outcome> {
  const { geo, database, sealing } = services;
  const { db } = database;
  if (!geo) throw unread('this installation keeps no data of places');
  const source = await row<Source>(
    db,
    sql`select "clientID", url, "headerName", header from "geoSource" where id = ${id} and "deletedAt" is null and url <> ''`,
  );
  if (!source) throw failFields([{ path: 'url', rule: 'required' }]);
  const secret = new Sealed('geoSource', ['header'], sealing).open('header', source.header);
  const before = await readSetting(db, null, 'geoFetched');
  const counts = (file: string | null | undefined): file is string =>
    geo.state.current?.own.some(one => one.file === file) ?? false;
  // a file that was lost, or that another took the place of, is fetched again
  const last = before?.sha256 && counts(before.file) ? { file: before.file, sha256: before.sha256 } : undefined;
  const answer = await outbound(source.url, {
    policy: await mailPolicy(db, source.clientID),
    headers: {
      'user-agent': 'Breakwater-Geo/1',
      accept: '*/*',
      ...(secret ? { [source.headerName]: secret } : {}),
      ...(last && before?.etag ? { 'if-none-match': before.etag } : {}),
      ...(last && before?.modified ? { 'if-modified-since': before.modified } : {}),
    },
    redirects: geoSourceLimits.redirectsMax,
    bytesMax: geoLimits.bytesMax,
    timeoutMs: geoSourceLimits.fetchSeconds * 1000,
    signal,
  });
  if (answer.status === 304 && last) return { what: 'unchanged', said: null, ...last };
  if (answer.status !== 200) throw at('geoFetchStatus', { status: answer.status });
  const { etag = null, 'last-modified': modified = null } = answer.headers;
  const said = {
    etag: etag && etag.length <= 1000 ? plainText(etag) : null,
    modified: modified && modified.length <= 100 ? plainText(modified) : null,
  };
  const bytes = await unpacked(answer.body, geoLimits.bytesMax);
  if (!bytes) throw tooLarge();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = ownNameOf(sha256);
  if (counts(file)) return { what: 'unchanged', said, file, sha256 };
  const held = geo.hold();
  const taken = await held.take(bytes).finally(() => held.leave());
  const { current } = geo.state;
  for (const { layer, isOwn, dataAt } of taken.sources ?? []) {
    const now = current?.sources.find(one => one.layer === layer);
    if (!isOwn || !now?.isOwn || !dataAt || dataAt >= now.dataAt) continue;
    taken.forget();
    throw at('geoFetchOlder', { theirs: dayOf(dataAt), ours: dayOf(now.dataAt) });
  }
  const dataAt = Math.max(0, ...(taken.sources ?? []).filter(one => one.isOwn).map(one => one.dataAt));
  return { what: 'taken', said, file, sha256, bytes: answer.body.length, taken, dataAt };
}

export const geoRefreshWork = taskWork<typeof geoRefresh, { version: number; drops: number }, Outcome | undefined>({
  kind: geoRefresh,
  async prepare({ services, input, cursor, signal }) {
    if (!cursor) return undefined;
    try {
      return await fetched(services, input.id, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof OutboundError) return { what: 'kept', failure: failureOf(error) };
      if (error instanceof GeoFileRefused) return { what: 'kept', failure: unread(error.message) };
      if (error instanceof Fail && error.status < 500) return { what: 'kept', failure: error };
      throw error;
    }
  },
  async step({ ctx, input, cursor: begun, prepared, say }) {
    // held: whoever goes back to the included data does so before this, or after
    const source = await row<{ url: string; version: number; drops: number }>(
      ctx.db,
      sql`select url, "rowVersion" as version, drops from "geoSource" where id = ${input.id} and url <> '' for no key update`,
    );
    const cursor = { version: source?.version ?? 0, drops: source?.drops ?? 0 };
    if (!prepared) {
      say('asking', { host: source ? new URL(source.url).host : '' });
      return { cursor, done: 0, total: 1 };
    }
    // the included data were chosen while this was on its way: it is not what was asked for last
    if (source && begun?.drops !== cursor.drops) {
      if (prepared.what === 'taken') prepared.taken.forget();
      say('dropped', {});
      return { cursor, done: 1, total: 1, isEnd: true };
    }
    // of a source that was changed meanwhile: it is asked anew
    if (begun?.version !== cursor.version) {
      if (prepared.what === 'taken') prepared.taken.forget();
      return source ? { cursor, done: 0, total: 1 } : { cursor, done: 1, total: 1, isEnd: true };
    }
    const now = new Date().toISOString();
    const before = await readSetting(ctx.db, null, 'geoFetched');
    const nothing = { takenAt: null, file: null, sha256: null, dataAt: null, etag: null, modified: null };
    const well = { ...nothing, ...before, lookedAt: now, problem: null, failedSince: null };
    let failure = prepared.what === 'kept' ? prepared.failure : undefined;
    if (prepared.what === 'unchanged') {
      say('unchanged', {});
      const { said, file, sha256 } = prepared;
      await writeSetting(ctx.db, null, 'geoFetched', { ...well, ...said, file, sha256 });
    } else if (prepared.what === 'taken') {
      const { taken, said, file, sha256, dataAt, bytes } = prepared;
      say('fetched', { mb: mbOf(bytes) });
      try {
        await count(ctx, taken);
        say('taken', { networks: taken.networks ?? 0 });
        await writeSetting(ctx.db, null, 'geoFetched', { ...well, ...said, file, sha256, takenAt: now, dataAt: timeOf(dataAt) });
      } catch (error) {
        if (!(error instanceof Fail) || error.status >= 500) throw error;
        failure = unread(String(brokenOf(error)?.bounds?.['why'] ?? ''));
      }
    }
    if (!failure) return { cursor, done: 1, total: 1, isEnd: true };
    say('kept', {}, { level: 'error', failure });
    const { rule = 'geoFetchUnread', bounds = {} } = brokenOf(failure) ?? {};
    const failedSince = before?.failedSince ?? now;
    const told = Object.fromEntries(
      Object.entries(bounds).map(([name, value]) => [name, typeof value === 'number' ? value : String(value)]),
    );
    await writeSetting(ctx.db, null, 'geoFetched', { ...well, problem: { rule, bounds: told }, failedSince });
    return { cursor, done: 1, total: 1, failed: 1, isEnd: true };
  },
});
