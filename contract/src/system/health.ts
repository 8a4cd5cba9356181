/**
 * How well an installation is, in one model: every part finds the same checks, and `/readyz`, `/metrics`, `breakwater doctor`, a node's
 * heartbeat and the console's banner read the same findings. A finding names a reason; its sentence and what to do about it stand in
 * health/LANGUAGE.ts, and a page of the handbook has a paragraph for each check.
 */
import { fill, type Language, type Parameters } from '../kit/text.ts';
import { type CheckID, checkIDs, type Reason, reasons } from './health/checks.ts';
import { texts as en_US } from './health/en_US.ts';
import { texts as zh_CN } from './health/zh_CN.ts';
import { texts as zh_TW } from './health/zh_TW.ts';

/** `warn`: somebody should look; it serves. `fail`: something that was promised is not kept. */
export const checkStates = ['ok', 'warn', 'fail'] as const;
export type CheckState = (typeof checkStates)[number];

export * from './health/checks.ts';

/** From when on a delay is told, and how often things are looked at. A part that stands still is visible within ten seconds. */
export const healthTimes = {
  lookEveryMs: 3000,
  /** a question that is not answered in this time has no answer */
  answerMs: 2500,
  /** a process of ours answers with what it found, so it is given longer than its own questions have */
  peerAnswerMs: 3500,
  /** no notice of the database can arrive */
  deafMs: 10_000,
  relayLateSeconds: 10,
  ingestLateSeconds: 20,
  unservedSeconds: 15,
  /** a node's clock that is wrong by more: its log lines lie elsewhere in time */
  clockSeconds: 30,
  /** one that is wrong by more can prove nothing to us (202006) */
  clockMostMs: 5 * 60_000,
  /** a check that nobody renewed for so long says nothing any more */
  staleMs: 15_000,
  consolePollMs: 15_000,
  shippingLateSeconds: 60,
  /** what is kept is looked through every 15 minutes */
  upkeepLateSeconds: 3 * 3600,
  /** another process takes over who steers names in ten seconds or so */
  namesIdleSeconds: 20,
  /** changes of names come through in a second; a name server may be started anew meanwhile */
  namesLateSeconds: 60,
  /** that a group could not be worked out */
  namesUnreadSeconds: 30,
  /** a source of data of places that fails is asked again every few hours: whoever has it may be away for a day or two */
  geoFailingDays: 7,
  /** a task that nobody works on although it is its turn, or of whose worker nothing is heard */
  tasksLateSeconds: 60,
  /** counters of what should never happen stay visible for so long after the last time */
  countedMinutes: 60,
} as const;

/** What one look found. */
export interface Finding {
  id: CheckID;
  /** tells apart several findings of one check: a stream's name, whose it is (`keyOf`) */
  key?: string | undefined;
  state: CheckState;
  reason?: Reason | undefined;
  params?: Parameters | undefined;
  /** the figure behind it: age in seconds, free bytes, a count */
  value?: number | undefined;
}
export interface Check extends Finding {
  /** since when it is in this state for this reason; ISO 8601 */
  since: string;
}

const idOf = (reason: Reason) => reason.slice(0, reason.indexOf('.')) as CheckID;
export const well = (id: CheckID, value?: number, key?: string): Finding => ({ id, key, state: 'ok', value });
export const warns = (reason: Reason, params: Parameters = {}, more: { value?: number; key?: string } = {}): Finding => ({
  id: idOf(reason),
  state: 'warn',
  reason,
  params,
  ...more,
});
export const fails = (reason: Reason, params: Parameters = {}, more: { value?: number; key?: string } = {}): Finding => ({
  ...warns(reason, params, more),
  state: 'fail',
});

/** The key of what is one node's or one operator's: of which kind, for their ids are the same; `more`: which of several of one node. */
export const keyOf = (kind: 'node' | 'operator', id: number | string, more?: string): string =>
  [`${kind}:${id}`, ...(more === undefined ? [] : [more])].join('/');
/** The id in the key of one of this kind. */
export function idInKey(kind: 'node' | 'operator', { key = '' }: Finding): number | undefined {
  const found = /^(node|operator):(\d+)(?:\/|$)/.exec(key);
  return found?.[1] === kind ? Number(found[2]) : undefined;
}

const nameOf = ({ id, key }: Finding) => (key === undefined ? id : `${id} ${key}`);

/** Gives findings their `since`: it stays while state and reason stay. */
export class Tracker {
  readonly #since = new Map<string, { state: CheckState; reason: Reason | undefined; since: string }>();

  track(findings: readonly Finding[], now = new Date()): Check[] {
    const seen = new Set<string>();
    const tracked = findings.map(finding => {
      const name = nameOf(finding);
      seen.add(name);
      let known = this.#since.get(name);
      if (!known || known.state !== finding.state || known.reason !== finding.reason) {
        known = { state: finding.state, reason: finding.reason, since: now.toISOString() };
        this.#since.set(name, known);
      }
      return { ...finding, since: known.since };
    });
    for (const name of this.#since.keys()) if (!seen.has(name)) this.#since.delete(name);
    return tracked;
  }
}

/** Counts of what should never happen: told from the first one on until nothing came for a while. A counter that starts anew is no count. */
export class Counted {
  readonly #reason: Reason;
  #last: number | undefined;
  #seen = 0;
  #at = 0;
  constructor(reason: Reason) {
    this.#reason = reason;
  }
  /** @param total the counter as it is now @param known where it stood before we looked for the first time */
  look(total: number, now = performance.now(), known = 0): Finding {
    const before = this.#last ?? known;
    const more = total >= before ? total - before : total;
    this.#last = total;
    if (more > 0) {
      this.#seen += more;
      this.#at = now;
    } else if (now - this.#at > healthTimes.countedMinutes * 60_000) this.#seen = 0;
    return this.#seen > 0 ? warns(this.#reason, { count: this.#seen }, { value: total }) : well(idOf(this.#reason), total);
  }
}

const weight = { ok: 0, warn: 1, fail: 2 } as const satisfies Record<CheckState, number>;
export const weightOf = (state: CheckState): number => weight[state];
export const worst = (list: readonly Finding[]): CheckState =>
  list.reduce<CheckState>((state, one) => (weight[one.state] > weight[state] ? one.state : state), 'ok');
/** What is wrong, the worst first, the oldest first among equals. */
export const troubles = <T extends Check>(list: readonly T[]): T[] =>
  list
    .filter(one => one.state !== 'ok')
    .sort((a, b) => weight[b.state] - weight[a.state] || a.since.localeCompare(b.since) || nameOf(a).localeCompare(nameOf(b)));

const texts = { en_US, zh_CN, zh_TW } as const;
const units = {
  en_US: { seconds: 's', minutes: 'min', hours: 'h', days: 'days' },
  zh_CN: { seconds: '秒', minutes: '分钟', hours: '小时', days: '天' },
  zh_TW: { seconds: '秒', minutes: '分鐘', hours: '小時', days: '天' },
} as const satisfies Record<Language, unknown>;
/** In the largest unit of which there are two: 95 s, 3 min, 47 h, 5 days. */
function durationOf(seconds: number, language: Language): string {
  const { seconds: s, minutes, hours, days } = units[language];
  if (seconds < 120) return `${seconds} ${s}`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} ${minutes}`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)} ${hours}` : `${Math.floor(seconds / 86_400)} ${days}`;
}
/** `{duration}` is what `seconds` says, as people say it. */
const filled = (text: string, params: Parameters | undefined, language: Language) => {
  const seconds = params?.['seconds'];
  return fill(text, typeof seconds === 'number' ? { ...params, duration: durationOf(seconds, language) } : params);
};
/** A sentence: what is wrong. */
export const sentenceOf = ({ reason, params }: Finding, language: Language): string => {
  if (!reason) return '';
  const text = texts[language][reason][0];
  // what a node says of itself, told by somebody else: the name goes in front
  const whose =
    params?.['node'] === undefined || text.includes('{node}') ? '' : `${params['node']}${language === 'en_US' ? ': ' : '：'}`;
  return whose + filled(text, params, language);
};
/** A sentence: what to do. */
export const adviceOf = ({ reason, params }: Finding, language: Language): string =>
  reason ? filled(texts[language][reason][1], params, language) : '';

/** A finding as text, for `/readyz` and the terminal. */
export const line = (check: Check, language: Language = 'en_US'): string =>
  `${nameOf(check)}: ${sentenceOf(check, language)} (since ${check.since})`;

const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;
/** Reads checks another process sent; what is not one of ours is left out. */
export function readChecks(value: unknown, max = 100): Check[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, max).flatMap((one: Partial<Check> | null): Check[] => {
    if (!one || !checkIDs.includes(one.id!) || !checkStates.includes(one.state!)) return [];
    if (one.state !== 'ok' && !(reasons.includes(one.reason!) && idOf(one.reason!) === one.id)) return [];
    const params: Record<string, string | number> = {};
    if (one.params && typeof one.params === 'object')
      for (const [name, given] of Object.entries(one.params).slice(0, 10))
        if (isText(given, 500) || Number.isFinite(given)) params[name] = given;
    return [
      {
        id: one.id!,
        state: one.state!,
        reason: one.state === 'ok' ? undefined : one.reason,
        params,
        key: isText(one.key, 100) ? one.key : undefined,
        value: Number.isFinite(one.value) ? one.value : undefined,
        since: isText(one.since, 40) && !Number.isNaN(Date.parse(one.since)) ? one.since : new Date(0).toISOString(),
      },
    ];
  });
}
