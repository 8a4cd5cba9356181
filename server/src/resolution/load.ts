/** The zones there are and what groups answer, out of rows. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { nameServerOf } from '#contract/rules.ts';
import { keyOf, parseAddressSet } from '#contract/rules/address.ts';
import { limitSecondsMost } from '../domain/dns/driver.ts';
import { type Db, rows, type Sql } from '../store/db.ts';
import type { GroupAnswer, NameZone, Secondary } from './driver.ts';
import { type ServerSetting, settingColumns } from './drivers.ts';
import { type AnsweredLine, defaultLineID } from './choose.ts';
import { isLeaving } from './tables.ts';
import { hasAnswer } from './line-places.ts';

export interface HeldZone {
  zone: NameZone;
  clientID: number;
  dnsSettingID: number;
  setting: ServerSetting;
  /** whose name server that is: one that all operators share, or a setting's own as it is now */
  server: string;
  tries: number;
  /** what was tried last came to nothing, also where somebody has it tried again at once (`tries` 0) */
  isFailing: boolean;
  error: string;
  /** as PostgreSQL writes it; another one: somebody asked for the zone since */
  nextAt: string;
  /** what the zone above has to say of it, as it was seen last */
  ds: string[];
  /** another key is wished for; and the zone above has had it for long enough */
  isNewKey: boolean;
  isNewKeyDue: boolean;
  /** what its lines go by, as far as that is written down (`NameDriver.told`) */
  lineData: string;
  placelessGroups: number[];
  linelessGroups: number[];
  /** it may be asked now */
  isDue: boolean;
  /** what stands there has not been compared for a while */
  isOld: boolean;
}

const compareMinutes = 10;
/** Any number; it names "who steers" among PostgreSQL's advisory locks. */
export const steerKey = 72_031;
export const embedded = 'knot';
/** Of the operator of a zone `c` that stands at `s`. */
const secondariesOf = sql`coalesce((select jsonb_agg(jsonb_build_object('id', n.id, 'address', n.address, 'port', n.port, 'keyName', n."keyName", 'algorithm', n.algorithm, 'credentials', n.credentials) order by n.id)
  from "dnsSecondary" n where n."clientID" = c."clientID" and n."deletedAt" is null and s.driver = ${embedded}), '[]')`;
/** A zone `c` that did not fail waits for nothing; and nobody is waited for longer than anybody may say: the clock was set back meanwhile. */
const isDue = sql`(c.tries = 0 or c."nextAt" not between clock_timestamp() and clock_timestamp() + ${limitSecondsMost} * interval '1 second')`;
/** Of a zone `c` names of sites are refused, and nothing else: of groups it would be told first (held-back.ts). */
export const lacksNames = (c: Sql): Sql =>
  sql`(${c}.tries = 0 and ${c}."refusedCount" > 0 and right(${c}.refused->0->>'name', length(${c}."domainName") + 3) is distinct from '.l.' || ${c}."domainName")`;
/** CNAME zones `c` with who answers for them. `isGone`: those instead that are no more, while names of ours stand there at somebody else's. */
export async function zonesOf(db: Db, condition: Sql, isGone = false): Promise<HeldZone[]> {
  const found = await rows<
    Omit<HeldZone, 'zone' | 'server'> & {
      id: number;
      domainName: string;
      nameServers: string[];
      isSigned: boolean;
      secondaries: Secondary[];
    }
  >(
    db,
    sql`select c.id, c."domainName", c."nameServers", c.signed as "isSigned", c."clientID", c."dnsSettingID", ${settingColumns} as setting, ${secondariesOf} as secondaries, c.tries, c.tries > 0 or c."failingSince" is not null as "isFailing", c.error, c."nextAt"::text as "nextAt", c."lineData", c."placelessGroups", c."linelessGroups", c.ds, c."newKeyAt" is not null as "isNewKey", coalesce(c."newKeyFrom" <= clock_timestamp(), false) as "isNewKeyDue", ${isDue} as "isDue", coalesce(c."comparedAt" not between clock_timestamp() - ${compareMinutes} * interval '1 minute' and clock_timestamp(), true) as "isOld"
      from cname c join "dnsSetting" s on s.id = c."dnsSettingID" where ${isGone ? isLeaving : sql`c."deletedAt" is null`}
        and (${condition}) order by c.id`,
  );
  return found.map(({ id, domainName, nameServers, isSigned, secondaries, ...rest }) => ({
    zone: { id, operatorID: rest.clientID, name: domainName, nameServers: nameServers.map(nameServerOf), isSigned, secondaries },
    server: serverOf(rest.dnsSettingID, rest.setting),
    ...rest,
  }));
}

/** Another key, or other places where the platform may connect, make it another. */
const serverOf = (id: number, setting: ServerSetting) =>
  setting.driver === embedded
    ? embedded
    : `${setting.driver} ${id} ${createHash('sha256').update(JSON.stringify(setting)).digest('hex').slice(0, 16)}`;

export interface StoredAnswer {
  groupID: number;
  clientID: number;
  version: number;
  lines: AnsweredLine[];
}
/** `groupIDs`: of these alone. */
export const storedAnswers = (db: Db, groupIDs?: readonly number[]): Promise<StoredAnswer[]> =>
  rows<StoredAnswer>(
    db,
    sql`select a."groupID", g."clientID", a.version, a.lines from "groupAnswer" a join "group" g on g.id = a."groupID" where g."deletedAt" is null
      and ${groupIDs ? sql`a."groupID" = any(${[...groupIDs]})` : sql`true`} order by 1`,
  );

const nothing = { a: [], aaaa: [], cname: null };
/** As a driver takes it; of what stands on two lines, or twice, the first counts. */
export function groupAnswer({ groupID, version, lines }: StoredAnswer): GroupAnswer {
  const seen = new Set<string | number>();
  const isFirst = (one: string | number) => !seen.has(one) && seen.add(one);
  return {
    groupID,
    version,
    fallback: lines.find(one => one.lineID === defaultLineID) ?? nothing,
    lines: lines
      .filter(one => one.lineID !== defaultLineID && hasAnswer(one))
      .map(({ cidrs, asns = [], places = [], a, aaaa, cname }) => ({
        cidrs: cidrs.filter(cidr => {
          // one network has many spellings; what is none is written nowhere
          const set = parseAddressSet(cidr);
          return set && isFirst(keyOf(set));
        }),
        asns: asns.filter(isFirst),
        places: places.filter(isFirst),
        answer: { a, aaaa, cname },
      })),
  };
}

export interface KnownAnswer {
  clientID: number;
  answer: GroupAnswer;
}
/** What groups answer, read and made anew only where its version is another: it is asked for each second. */
export class KnownAnswers {
  #known = new Map<number, KnownAnswer>();

  async all(db: Db): Promise<KnownAnswer[]> {
    const now = await rows<Omit<StoredAnswer, 'lines'>>(
      db,
      sql`select a."groupID", g."clientID", a.version from "groupAnswer" a join "group" g on g.id = a."groupID" where g."deletedAt" is null order by 1`,
    );
    const isKnown = ({ groupID, version }: Pick<StoredAnswer, 'groupID' | 'version'>) =>
      this.#known.get(groupID)?.answer.version === version;
    const others = now.filter(one => !isKnown(one)).map(one => one.groupID);
    const found = others.length ? await storedAnswers(db, others) : [];
    const read = new Map(found.map(one => [one.groupID, { clientID: one.clientID, answer: groupAnswer(one) }]));
    // one that went in between is none
    const all = now.flatMap(({ groupID }) => read.get(groupID) ?? (others.includes(groupID) ? [] : this.#known.get(groupID)!));
    this.#known = new Map(all.map(one => [one.answer.groupID, one]));
    return all;
  }
}

/** Keys in one order, as they are made here: PostgreSQL keeps them in another. */
export const inOrder = ({ lineID, cidrs, asns = [], places = [], a, aaaa, cname, members }: AnsweredLine): AnsweredLine => ({
  lineID,
  cidrs,
  asns,
  places,
  a,
  aaaa,
  cname,
  members: members.map(({ UID, name }) => ({ UID, name })),
});
