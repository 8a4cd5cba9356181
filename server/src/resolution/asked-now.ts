/** A name server that somebody asks by a button, and waits for. */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { troubleOf } from '../domain/dns/accounts.ts';
import { saidText } from '../domain/dns/said.ts';
import type { Context } from '../kit/context.ts';
import { row } from '../store/db.ts';
import type { NameDriver } from './driver.ts';
import { driverOf, type ServerSetting, settingColumns } from './drivers.ts';
import { retrySecondsMost } from './servers.ts';
import { errorIn, type ToldZone } from './told.ts';

/** Who wants to be left alone is. @returns with how long it took, in milliseconds @throws Fail, in the words of who was asked */
export async function askNow<T>(
  { db, services, language }: Pick<Context, 'db' | 'services' | 'language'>,
  dnsSettingID: number,
  act: (driver: NameDriver) => Promise<T>,
): Promise<{ ms: number; answer: T }> {
  const { setting } = (await row<{ setting: ServerSetting }>(
    db,
    sql`select ${settingColumns} as setting from "dnsSetting" s where s.id = ${dnsSettingID}`,
  ))!;
  // by a button too; another key makes it another. A name that is refused waits alone, and nobody for it.
  const resting = await row<ToldZone>(
    db,
    sql`select error, "errorSaid", '[]'::jsonb as refused, 0 as "refusedCount" from cname where "dnsSettingID" = ${dnsSettingID} and "deletedAt" is null and tries > 0 and error <> '' and "nextAt" > clock_timestamp() + ${retrySecondsMost} * interval '1 second' limit 1`,
  );
  const saying = (why: string) => ({ errorData: [{ path: 'id', rule: 'dnsSaid' as const, bounds: { why } }] });
  if (resting) throw new Fail('dnsExecution', saying(errorIn(resting, language)));
  const startedAt = performance.now();
  try {
    const driver = driverOf(services, setting);
    if (!driver) throw fail('invalidDNSSetting');
    const answer = await act(driver);
    return { ms: Math.round(performance.now() - startedAt), answer };
  } catch (error) {
    if (error instanceof Fail) throw error;
    const { trouble, why, said } = troubleOf(error);
    throw new Fail(trouble === 'credentials' ? 'invalidDNSSetting' : 'dnsExecution', saying(saidText(said, language, why)));
  }
}
