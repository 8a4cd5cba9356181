/**
 * Fetches what authorities say of certificates (ocsp.ts) once for all nodes, which get it with the certificate's document and show it in
 * handshakes until it is over. It is asked again at half of its time, and what cannot be had later each time; what is there stays.
 */
import { X509Certificate } from 'node:crypto';
import { sql } from 'kysely';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { publish } from '../../kit/context.ts';
import { type Effects, touch } from '../../kit/effects.ts';
import { outbound, OutboundError } from '../../kit/outbound.ts';
import type { Services } from '../../kit/services.ts';
import { plainText } from '../../kit/text.ts';
import { type Db, rows } from '../../store/db.ts';
import { readSetting } from '../../system/settings.ts';
import { answerMax, judge, questionOf, responderOf, type Said } from './ocsp.ts';

/** Of one round; the next comes some seconds later. One customer has half of it. */
const most = 50;
const mostOfOne = 25;
const timeoutMs = 8000;

interface Asked {
  id: number;
  fingerprint: string;
  leaf: string;
  issuers: { der: string }[];
  tries: number;
}

/** @param signal the program ends */
export async function askStatuses(db: Db, services: Services, signal: AbortSignal): Promise<void> {
  // whoever looks meanwhile, here or elsewhere, finds others; of those that nobody shows nothing is asked
  const due = await rows<Asked & { isShown: boolean }>(
    db,
    sql`update certificate c set "ocspAskAt" = clock_timestamp() + (0.9 + 0.2 * random()) * interval '1 hour'
        from (select id, rank() over (partition by "siteID" order by "ocspAskAt", id) as n from (
            select id, "siteID", "ocspAskAt" from certificate where "ocspAskAt" <= clock_timestamp() and "deletedAt" is null
            order by "ocspAskAt" limit ${most} for update skip locked) x) y
        where c.id = y.id and y.n <= ${mostOfOne}
        returning c.id, c.fingerprint, c.leaf, c.issuers, c."ocspTries" as tries,
          c."notAfter" > clock_timestamp() and exists (select from domain d where d."certificateID" = c.id and d."deletedAt" is null) as "isShown"`,
  );
  const done = await Promise.allSettled(
    due.filter(one => one.isShown).map(async one => note(db, one, await said(db, services, one, signal))),
  );
  for (const one of done) if (one.status === 'rejected') throw one.reason;
}

type Answer = Said | { state: 'none' };

async function said(
  db: Db,
  services: Services,
  { leaf, issuers }: Asked,
  signal: AbortSignal,
): Promise<Answer & { answer?: Buffer }> {
  const own = new X509Certificate(Buffer.from(leaf, 'base64'));
  const url = responderOf(own);
  const above = issuers[0] && new X509Certificate(Buffer.from(issuers[0].der, 'base64'));
  if (!url || !above) return { state: 'none' };
  try {
    // the address stands in what a customer uploaded: it is judged as all that we fetch for them
    const policy = new AddressPolicy({
      operator: [],
      environment: await readSetting(db, null, 'originEnvironment'),
      own: await readSetting(db, null, 'ownAddresses'),
    });
    const { status, body } = await outbound(url, {
      method: 'POST',
      headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
      body: questionOf(own, above),
      policy,
      timeoutMs,
      bytesMax: answerMax,
      signal,
    });
    if (status !== 200) return { state: 'wrong', why: `the responder answers ${status}` };
    return { ...judge(body, own, above), answer: body };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { state: 'wrong', why: `the responder could not be asked (${error.problem})` };
  }
}

const retryMinutes = [5, 15, 60, 180, 360];
/** Only as long as it is that certificate. */
async function note(
  db: Db,
  { id, fingerprint, tries }: Asked,
  { answer, ...found }: Answer & { answer?: Buffer },
): Promise<void> {
  const again = sql`clock_timestamp() + ${retryMinutes[Math.min(tries, retryMinutes.length - 1)]!} * (0.9 + 0.2 * random()) * interval '1 minute'`;
  const change =
    found.state === 'good'
      ? sql`ocsp = ${answer!.toString('base64')}, "ocspUntil" = ${found.until.toISOString()}, "ocspTries" = 0, "ocspWhy" = '',
          "ocspAskAt" = greatest(${found.askAgain.toISOString()}::timestamptz, clock_timestamp() + interval '10 minutes') + random() * interval '10 minutes'`
      : found.state === 'none'
        ? sql`ocsp = null, "ocspUntil" = null, "ocspAskAt" = null, "ocspWhy" = ''`
        : found.state === 'revoked'
          ? sql`ocsp = null, "ocspUntil" = null, "ocspTries" = "ocspTries" + 1, "ocspAskAt" = ${again}, "ocspWhy" = 'revoked'`
          : sql`"ocspTries" = "ocspTries" + 1, "ocspAskAt" = ${again}, "ocspWhy" = ${plainText(found.why, 200)}`;
  await db.transaction().execute(async tx => {
    const [before] = await rows<{ ocsp: string | null }>(
      tx,
      sql`select ocsp from certificate where id = ${id} and fingerprint = ${fingerprint} and "deletedAt" is null for update`,
    );
    if (!before) return;
    await sql`update certificate set ${change} where id = ${id}`.execute(tx);
    const after = found.state === 'good' ? answer!.toString('base64') : found.state === 'wrong' ? before.ocsp : null;
    if (after === before.ocsp) return;
    const effects: Pick<Effects, 'documents'> = { documents: new Map() };
    touch(effects, 'certificate', id);
    await publish(tx, effects);
  });
}
