/** Settings by typed key; `clientID` null is the installation. */
import { sql } from 'kysely';
import { type SettingKey, settingValue, type SettingValue } from '#contract/system/settings.ts';
import { type Db, row } from '../store/db.ts';

export async function readSetting<K extends SettingKey>(db: Db, clientID: number | null, key: K): Promise<SettingValue<K>> {
  const found = await row<{ value: unknown }>(
    db,
    sql`select value from setting where coalesce("clientID", 0) = ${clientID ?? 0} and key = ${key}`,
  );
  return settingValue(key, found?.value);
}

/** @returns whether the value is another one now */
export async function writeSetting<K extends SettingKey>(
  db: Db,
  clientID: number | null,
  key: K,
  value: SettingValue<K>,
): Promise<boolean> {
  const changed = await row(
    db,
    sql`insert into setting ("clientID", key, value) values (${clientID}, ${key}, ${JSON.stringify(value)}::jsonb)
        on conflict (coalesce("clientID", 0), key) do update
          set value = excluded.value, version = setting.version + 1, "updatedAt" = now()
          where setting.value <> excluded.value
        returning 1 as done`,
  );
  return changed !== undefined;
}

/** How often it was changed; 0: never. */
export async function settingVersion(db: Db, clientID: number | null, key: SettingKey): Promise<number> {
  const found = await row<{ version: number }>(
    db,
    sql`select version from setting where coalesce("clientID", 0) = ${clientID ?? 0} and key = ${key}`,
  );
  return found?.version ?? 0;
}
