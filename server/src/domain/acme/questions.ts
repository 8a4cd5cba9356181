/**
 * Questions to an authority, side by side. A step waits for them a moment and no longer, and holds no place that others need meanwhile: what
 * is said later is there at a later step. Whoever dies meanwhile has asked for nothing, and it is asked again.
 */
import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Services } from '../../kit/services.ts';
import { row } from '../../store/db.ts';
import { AcmeProblem } from './client.ts';
import { ask, isLostAccount, type Ordering, problemOf, type Said } from './orders.ts';
import { accountURL, clientOf, openKey } from './providers.ts';

/** How long a step waits; most authorities have answered by then. */
const soonMs = 400;
/** Of everything that one question comes to: a directory, nonces that are refused, an account. */
const questionMs = 10_000;
/** What nobody came back for by then is asked anew. */
const keptMs = 60_000;

interface Question {
  at: number;
  said: Promise<void>;
  result?: Said;
  error?: unknown;
}
const asked = new Map<string, Question>();

/** The key of the certificate that this task ordered for a domain. */
export async function orderKey(services: Services, taskID: number, domainID: number): Promise<KeyObject | undefined> {
  const found = await row<{ key: string }>(
    services.database.db,
    sql`select "privateKey" as key from "acmeOrder" where "domainID" = ${domainID} and "taskID" = ${taskID}`,
  );
  return found && openKey(services, 'acmeOrder', found.key);
}

interface Asking {
  services: Services;
  taskID: number;
  accountID: number;
  signal: AbortSignal;
}

async function question({ services, taskID, accountID, signal }: Asking, one: Ordering): Promise<Said> {
  const whole = AbortSignal.any([signal, AbortSignal.timeout(questionMs)]);
  let isOurs = true;
  try {
    for (let lost: string | undefined; ;) {
      const acme = await clientOf(services, accountID, whole, lost);
      // others may have made another by the time it answers
      const account = accountURL(accountID) ?? '';
      isOurs = false;
      try {
        return await ask(acme, one, domainID => orderKey(services, taskID, domainID));
      } catch (error) {
        if (!isLostAccount(error) || lost !== undefined) throw error;
        lost = account;
        isOurs = true;
      }
    }
  } catch (error) {
    const said = problemOf(one, error);
    // of us and not of the name: what was said of the operator's account is the operator's to read
    if (!(isOurs || isLostAccount(error)) || !('why' in said) || !(error instanceof AcmeProblem)) return said;
    return { ...said, why: `the authority does not take our account (${error.type})`, detail: error.message, other: true };
  }
}

/** What was said of them by now. @throws where the house itself failed */
export async function saidOf(given: Asking, ones: readonly Ordering[]): Promise<Said[]> {
  const { taskID, signal } = given;
  const now = performance.now();
  for (const [key, { at }] of asked) if (now - at > keptMs) asked.delete(key);
  const mine = ones.map(one => {
    const key = [
      taskID,
      one.domainID,
      one.way ?? 'http',
      one.order ?? '',
      one.phase,
      one.looks,
      one.troubles ?? 0,
      one.anew ?? 0,
    ].join(' ');
    let known = asked.get(key);
    if (!known) {
      const made: Question = { at: now, said: Promise.resolve() };
      made.said = question(given, one).then(
        result => void (made.result = result),
        (error: unknown) => void (made.error = error),
      );
      asked.set(key, (known = made));
      signal.addEventListener('abort', () => asked.delete(key), { once: true });
    }
    return { key, known };
  });
  let done = () => {};
  const late = new Promise<void>(resolve => (done = resolve));
  const timer = setTimeout(done, soonMs);
  signal.addEventListener('abort', done, { once: true });
  await Promise.race([Promise.all(mine.map(({ known }) => known.said)), late]);
  clearTimeout(timer);
  signal.removeEventListener('abort', done);
  const there = mine.filter(({ known: { result, error } }) => result !== undefined || error !== undefined);
  for (const { key } of there) asked.delete(key);
  const failed = there.find(({ known }) => known.error !== undefined);
  if (failed) throw failed.known.error;
  return there.map(({ known }) => known.result!);
}
