/**
 * What nodes say, judged. Any of it may be nonsense by fault or by malice, and it goes into our tables and before people's eyes: numbers
 * within their bounds, text without what PostgreSQL or a terminal cannot take, nothing that was not asked for.
 */
import * as z from 'zod/mini';
import type { Word } from '#contract/edge/subjects.ts';
import { upgradeSteps } from '#contract/node/upgrade.ts';
import { nodeMessage } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';

/** Bytes of each word, looked at before anything is read: one thread reads the words of all nodes. */
export const wordBytesMost: Record<Word, number> = { beat: 16_384, ack: 16_384, sync: 1024, ans: 1024 };
/** No honest word of a node is nested deeper, or holds more values: what is wrong with each of thousands would be written down. */
const depthMax = 8;
const valuesMost = 1200;
const entriesMost = 100;

/** Text that may be stored and shown: well-formed, without control characters. */
const clean = (text: string) => text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ');
const text = (max: number) =>
  z.pipe(
    z.string(),
    z.transform((value: string) => clean(value.slice(0, max))),
  );
const exact = (max: number) => z.string().check(z.maxLength(max), z.regex(/^[ -~]*$/));
const count = z.int().check(z.gte(0));
const id = z.int().check(z.gte(1));

const Refused = z.object({ subject: exact(100), seq: count, why: text(200) });
export type Refused = z.infer<typeof Refused>;

export const Ack = z.object({
  /** how far the node is in the numbers of this zone */
  seq: count,
  epoch: exact(64),
  zoneID: z.nullable(id),
  /** documents the node could not accept; their sites are not served as wished */
  refused: z.optional(z.array(Refused).check(z.maxLength(100))),
});
export type Ack = z.infer<typeof Ack>;

/** Cannot fail: what is wrong with each of a thousand values would cost 10 ms to write down. */
const param = z.pipe(
  z.unknown(),
  z.transform((value: unknown): string | number =>
    typeof value === 'number' && Number.isFinite(value) ? value : typeof value === 'string' ? clean(value.slice(0, 500)) : '',
  ),
);
const NodeCheck = z.object({
  id: exact(40),
  key: z.optional(exact(100)),
  state: z.enum(['warn', 'fail']),
  reason: exact(60),
  params: z.optional(z.record(exact(40), param)),
  value: z.optional(z.number()),
  since: exact(40),
});

/** An origin the node does not connect to. Customers read it: what is no address, port or kind of one is left out, and the rest of the word holds. */
const RefusedOrigin = z.object({
  host: exact(253),
  address: exact(60).check(z.regex(/^[\w.:-]+$/)),
  port: z.int().check(z.gte(1), z.lte(65_535)),
  kind: z.string().check(z.regex(/^[A-Za-z]{1,20}$/)),
});
/** An origin that did not answer a node well. Customers read it, as above. */
const OriginTrouble = z.object({
  host: exact(253),
  origin: exact(253).check(z.regex(/^[\w.:-]+$/)),
  address: exact(253).check(z.regex(/^[\w.:-]+$/)),
  port: z.int().check(z.gte(1), z.lte(65_535)),
  error: z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,59}$/)),
  since: exact(40).check(z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)),
  isDown: z.boolean(),
});
const OriginBack = z.pick(OriginTrouble, { host: true, origin: true, port: true, since: true });
/** Those of at most so many that can be read. */
const readable = <T extends z.ZodMiniType>(one: T, most: number) =>
  z.pipe(
    z.array(z.unknown()).check(z.maxLength(most)),
    z.transform(all =>
      all.flatMap(value => {
        const read = z.safeParse(one, value);
        return read.success ? [read.data] : [];
      }),
    ),
  );
const originReport = z.object({
  checked: count,
  wrong: count,
  troubles: readable(OriginTrouble, 40),
  /** those that were down within the last hour and are not; absent: an agent that knows nothing of this */
  back: z.optional(readable(OriginBack, 40)),
  /** what is not among the troubles is well: all were asked, and none was left out */
  whole: z.optional(z.boolean()),
});

/** A relay that the node passes by. */
const RelayAway = z.object({ id, since: exact(40).check(z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)), why: text(200) });
/** What machine it is and how busy (contract/src/node/info.ts). People read it: a figure that is none is left out, and the rest of the word holds. */
const figures = [
  'cores',
  'uptimeSeconds',
  'cpuPercent',
  'memoryBytes',
  'memoryFreeBytes',
  'diskBytes',
  'diskFreeBytes',
  'inBitsPerSecond',
  'outBitsPerSecond',
  'connections',
  'requests',
  'requestsPerSecond',
  'cacheBytes',
  'cacheFiles',
  'cacheMaxBytes',
] as const;
const machineFigures: ReadonlySet<string> = new Set(figures);
const machineWords: ReadonlySet<string> = new Set(['cpu', 'kernel', 'nginx', 'node']);
const isFigure = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e18;
function machineValue(name: string, value: unknown): string | number | number[] | undefined {
  if (machineFigures.has(name)) return isFigure(value) ? value : undefined;
  if (machineWords.has(name)) return typeof value === 'string' ? clean(value.slice(0, 100)) : undefined;
  return name === 'load' && Array.isArray(value) && value.length === 3 && value.every(isFigure) ? value : undefined;
}
const machine = z.pipe(
  z.record(exact(40), z.unknown()),
  z.transform(said =>
    Object.fromEntries(
      Object.entries(said).flatMap(([name, value]) => {
        const read = machineValue(name, value);
        return read === undefined ? [] : [[name, read]];
      }),
    ),
  ),
);

export const Beat = z.object({
  ...Ack.shape,
  version: text(64),
  /** ISO 8601 */
  startedAt: text(40),
  /** which boot of which machine it runs in (agent/src/identity.ts); absent: an earlier release */
  boot: z.optional(text(64)),
  /** milliseconds since 1970 by its own clock */
  at: z.optional(z.number().check(z.gte(0), z.lte(1e15))),
  machine: z.optional(machine),
  /** why the node does not serve as it should; null when it does */
  problem: z.nullable(text(500)),
  /** what is not well there, as checks of contract/system/health.ts; read with `readChecks` */
  checks: z.optional(z.array(NodeCheck).check(z.maxLength(30))),
  documents: z.optional(count),
  /** of the disk that holds what it stores */
  disk: z.optional(z.object({ freeBytes: count, totalBytes: count })),
  /** where a relay listens; it does while nginx is up */
  relay: z.optional(z.object({ port: z.int().check(z.gte(1), z.lte(65_535)) })),
  relaysAway: z.optional(z.array(RelayAway).check(z.maxLength(100))),
  /** fields of documents that it does not know */
  unknownFields: z.optional(count),
  /** origins it does not connect to (rules/address-policy.ts), the newest first */
  refusedOrigins: z.optional(readable(RefusedOrigin, 20)),
  /** how many domains have one */
  refusedDomains: z.optional(count),
  /** how the origins are that it asks by itself: how many it asks, how many are not well, the newest of these */
  origins: z.optional(originReport),
  nginx: z.optional(z.object({ up: z.boolean(), restarts: count })),
  /** whether it can become another version, and how far it is with the last one it was told of */
  upgrade: z.optional(
    z.object({
      able: z.boolean(),
      id: z.optional(count),
      steps: z.optional(
        z
          .array(z.object({ step: z.enum(upgradeSteps), at: exact(40).check(z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)) }))
          .check(z.maxLength(10)),
      ),
      why: z.optional(z.nullable(text(300))),
    }),
  ),
  /** which change of its zone it has before the others (0: none), and what came of it; absent: an agent that knows nothing of this */
  canary: z.optional(z.object({ id: count, taken: z.boolean(), why: z.nullable(text(300)) })),
  logs: z.optional(
    z.nullable(
      z.object({ waitingBytes: count, files: count, sentBytes: count, lostBytes: count, problem: z.nullable(text(300)) }),
    ),
  ),
});
export type Beat = z.infer<typeof Beat>;

export const Answer = z.object({ count: count, ok: z.boolean(), why: z.optional(text(300)) });

/** A node that sends nonsense is named in the log once in this time. */
const tellEveryMs = 60_000;

/** Counts a message that was refused, by the node it came from, and says why. */
export function refusing(log: (message: string) => void): (nodeID: number, word: Word, why: string) => void {
  const told = new Seldom(tellEveryMs);
  return (nodeID, word, why) => {
    nodeMessage(nodeID, word, 'refused');
    if (told.isTime(String(nodeID))) log(`node ${nodeID} says what it should not (${word}): ${clean(why.slice(0, 200))}`);
  };
}

/** @throws a sentence, fit to be shown */
export function judge<T extends z.ZodMiniType>(word: Word, schema: T, data: Uint8Array): z.infer<T> {
  if (data.length > wordBytesMost[word]) throw new Error(`${data.length} bytes, at most ${wordBytesMost[word]} are read`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    throw new Error(clean((error as Error).message.slice(0, 200)), { cause: error });
  }
  if (weigh(value, depthMax, valuesMost) < 0) throw new Error('nested too deep, or too many values');
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  throw new Error(clean(`${issue?.path.join('.') || 'message'}: ${issue?.message ?? 'invalid'}`.slice(0, 200)));
}

/** @returns how many more values there may be; negative: too many, or too deep */
function weigh(value: unknown, depth: number, left: number): number {
  left--;
  if (typeof value !== 'object' || value === null) return left;
  if (depth === 0) return -1;
  const ones = Object.values(value);
  if (ones.length > entriesMost) return -1;
  for (const one of ones) {
    left = weigh(one, depth - 1, left);
    if (left < 0) break;
  }
  return left;
}
