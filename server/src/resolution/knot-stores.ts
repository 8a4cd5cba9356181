/**
 * The name server's own databases (LMDB). One that was damaged either keeps every zone from being answered (SERVFAIL, for ever) or ends the name
 * server at its start, again and again. What is in the timers, the journal and the catalogue is made anew; keys are not: with others, what the
 * zone above says (DS) is untrue, and whoever validates believes nothing. So keys go aside last, and only once it is proven that it is them.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import { type Engine, type EngineExit, findProgram, signalGroup, spawnEngine } from '../store/engine-process.ts';

type Store = 'timers' | 'journal' | 'catalog' | 'keys';
interface Reader {
  program: string;
  args: (dir: string) => string[];
}
/** Programs of Debian's package that open each of them; of timers there is none. */
const readers: Readonly<Partial<Record<Store, Reader>>> = {
  journal: { program: 'kjournalprint', args: dir => ['-D', dir, '-z'] },
  catalog: { program: 'kcatalogprint', args: dir => ['-D', dir] },
  keys: { program: 'keymgr', args: dir => ['-D', dir, '-l'] },
};
const readMs = 20_000;
/** What LMDB says of a file that is damaged, not of one that is full, busy or of another release. */
const damage = /MDB_(?:INVALID|CORRUPTED|PAGE_NOTFOUND)/;
export const saysDamage = (line: string): boolean => damage.test(line);
/** Of a program that read what it could not bear; whoever was killed by somebody else says nothing. */
const crashes = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']);
const isCrash = (signal: string | null): boolean => signal !== null && crashes.has(signal);

/** In the order in which they are tried without, after a crash at its start or soon after it; what is lost with each is made anew. */
const suspects: readonly Store[] = ['timers', 'journal', 'catalog'];
/**
 * A zone that is read, or its first change, may come upon what is damaged when the start itself is over. A crash later than this is not about
 * what stands there, or has cost little.
 */
const soonMs = 60_000;
/** What is damaged may be read seldom: whoever lives for so long without a word of it has it no more. */
const quietDayMs = 86_400_000;

const storeOf = (dir: string, store: Store) => join(dir, 'db', store);
/** Keys while it is tried whether it starts without them. */
const trialOf = (dir: string) => `${storeOf(dir, 'keys')}.trial`;

/** Whether it can be opened, as the name server's user; one that is not there yet is well. */
async function isWhole(dir: string, store: Store, { program, args }: Reader): Promise<boolean> {
  const folder = storeOf(dir, store);
  const command = await findProgram(program);
  if (!command || !existsSync(join(folder, 'data.mdb'))) return true;
  const reader = await spawnEngine({
    command,
    args: args(folder),
    as: 'dns',
    reaches: [dir],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    deathSignal: 'SIGKILL',
  });
  const timer = setTimeout(() => void reader.stop(0), readMs);
  const { signal } = await reader.exited;
  clearTimeout(timer);
  // that a program crashes is no proof against what nobody makes anew
  const isEnded = isCrash(signal) && store !== 'keys';
  return !isEnded && !reader.lastLines().some(line => damage.test(line));
}

/** @returns whether it was there */
function putStoreAside(dir: string, store: Store): boolean {
  const folder = storeOf(dir, store);
  if (!existsSync(folder)) return false;
  // What went aside first is what there was: it stays, and beside it the last. Of keys all stay: any of them may be what the zone above knows.
  const isSecond = existsSync(`${folder}.unread`);
  const mark = store === 'keys' ? randomBytes(4).toString('hex') : 'last';
  const aside = isSecond ? `${folder}.${mark}.unread` : `${folder}.unread`;
  rmSync(aside, { recursive: true, force: true });
  renameSync(folder, aside);
  return true;
}

/** Those that cannot be opened go aside. */
export async function putBrokenAside(dir: string, onLine: ((line: string) => void) | undefined): Promise<void> {
  for (const store of [...suspects, 'keys'] as const) {
    const reader = readers[store];
    if (reader && !(await isWhole(dir, store, reader)) && putStoreAside(dir, store))
      onLine?.(`db/${store} cannot be read, and is put aside`);
  }
}

const crashesOf = (dir: string) => join(dir, 'crashes');
interface Counted {
  crashes: number;
  /** LMDB said of something that it is damaged: that it lives for long without reading it proves nothing */
  isDamaged: boolean;
}
/** `isAnswered`: a start has been made without the one of `suspects` whose turn it was. */
interface Crashes extends Counted {
  isAnswered: boolean;
}
function crashesIn(dir: string): Crashes {
  const at = statSync(crashesOf(dir), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // of processes that none of them lived for a day: what is damaged now has nothing to do with it
  if (Date.now() - at > quietDayMs) return { crashes: 0, isDamaged: false, isAnswered: false };
  const said = existsSync(crashesOf(dir)) ? readFileSync(crashesOf(dir), 'utf8') : '';
  return { crashes: Number.parseInt(said, 10) || 0, isDamaged: said.includes(damaged), isAnswered: said.endsWith(answered) };
}
function noteCrashes(dir: string, { crashes, isDamaged, isAnswered }: Crashes): void {
  const said = `${crashes}${isDamaged ? damaged : ''}${isAnswered ? answered : ''}`;
  writeWhole(crashesOf(dir), said, { durable: false });
}
const damaged = ' damaged';
const answered = ' answered';

/**
 * Crashes in a row, each soon after a start that went well, counted from how the last one ended after `livedMs`. What is damaged may be read by
 * a late write alone: who lives for long has not shown that there is nothing.
 */
export const crashesAfter = ({ crashes, isDamaged }: Counted, hasCrashed: boolean, livedMs: number): number => {
  if (livedMs >= soonMs) return isDamaged ? crashes : 0;
  return hasCrashed ? crashes + 1 : crashes;
};

/**
 * To be called of one that has started: how it ends is what the next start is told, and that it lives for long enough.
 * @returns what is to hear each line it says: one that lives on damaged answers nobody in those zones, and is ended as by a crash, as long as
 * something is left to start without
 */
export function rememberCrashes(
  dir: string,
  { exited, pid }: Pick<Engine, 'exited' | 'pid'>,
  longMs = soonMs,
  quietMs = quietDayMs,
): (line: string) => void {
  const since = performance.now();
  let isDamaged = false;
  let isGone = false;
  const isOfOthers = othersThanKeys();
  const forget = (which: boolean) => {
    try {
      if (crashesIn(dir).isDamaged === which) rmSync(crashesOf(dir), { force: true });
    } catch {
      // the disk takes nothing: it is forgotten by the next that lives as long
    }
  };
  // also where whoever would have been told of its end has ended before
  const timer = setTimeout(forget, longMs, false);
  // else all would go aside again and again for the sake of what is none of it
  const quiet = setTimeout(forget, quietMs, true);
  for (const one of [timer, quiet]) one.unref();
  void exited.then(({ signal }) => {
    isGone = true;
    for (const one of [timer, quiet]) clearTimeout(one);
    if (isDamaged) return; // it is counted already
    try {
      const before = crashesIn(dir);
      const crashes = crashesAfter(before, isCrash(signal), performance.now() - since);
      if (crashes === 0) rmSync(crashesOf(dir), { force: true });
      else if (crashes !== before.crashes) noteCrashes(dir, { ...before, crashes, isAnswered: false });
    } catch {
      // the disk is full: it is not known of this crash
    }
  });
  return line => {
    if (isGone || isDamaged || !damage.test(line) || !isOfOthers(line)) return;
    quiet.refresh();
    try {
      const before = crashesIn(dir);
      const isLeft = before.crashes < suspects.length;
      // before its end, however long it has lived: the next start is to know of it, or it would end by the same again and again
      if (isLeft) noteCrashes(dir, { crashes: before.crashes + 1, isDamaged: true, isAnswered: false });
      // now, too: it is forgotten a day after the last word of it
      else noteCrashes(dir, { ...before, isDamaged: true });
      if (!isLeft) return;
      isDamaged = true;
      signalGroup(pid, 'SIGKILL');
    } catch {
      // the disk is full: it goes on as it is
    }
  };
}

/**
 * Whether what is damaged may be made anew, line by line: what is said of signing (DNSSEC) is about keys, which no start is made without for that,
 * and so is what Knot says of the same zone from then on: that its event, an update or a change by its control socket failed.
 */
function othersThanKeys(): (line: string) => boolean {
  const signed = new Set<string>();
  return line => {
    const from = line.indexOf('[');
    const to = line.indexOf(']', from);
    const [zone, said] = from < 0 || to < 0 ? ['', line] : [line.slice(from, to), line.slice(to)];
    const isOfKeys = /DNSSEC|KASP/.test(said);
    if (isOfKeys && zone) signed.add(zone);
    return !isOfKeys && (!signed.has(zone) || /journal/i.test(said));
  };
}

/** Before a start: after each crash soon after one, the next of what is made anew goes aside. */
export function putCrashingAside(dir: string, onLine: ((line: string) => void) | undefined): void {
  try {
    const before = crashesIn(dir);
    const store = suspects[before.crashes - 1];
    if (!store || before.isAnswered) return;
    if (putStoreAside(dir, store)) onLine?.(`it ended soon after its start: db/${store} is put aside`);
    noteCrashes(dir, { ...before, isAnswered: true });
  } catch {
    // the disk takes nothing: it starts with what there is, or without it once more
  }
}

/** Also after whoever tried ended in its midst: what was made meanwhile in their place signs nothing. */
export function bringKeysBack(dir: string): void {
  if (!existsSync(trialOf(dir))) return;
  rmSync(storeOf(dir, 'keys'), { recursive: true, force: true });
  renameSync(trialOf(dir), storeOf(dir, 'keys'));
}

/** `exit`: it has ended, by itself or because it did not answer in time. */
export interface Begun {
  engine: Engine;
  exit?: EngineExit;
}
const hasCrashed = ({ exit }: Begun) => exit !== undefined && isCrash(exit.signal);

/** Begins it, without what ends it at its start. `begin('trial')`: nobody is to change anything in it. */
export async function begunWhole(
  dir: string,
  begin: (as?: 'trial') => Promise<Begun>,
  onLine: ((line: string) => void) | undefined,
): Promise<Begun> {
  let now = await begin();
  for (const store of suspects) {
    // one that reads what it cannot bear ends before it says a word
    if (!hasCrashed(now)) return now;
    if (!putStoreAside(dir, store)) continue;
    now = await begin();
    if (!now.exit) onLine?.(`it ended at its start by what stands in db/${store}: that is put aside`);
  }
  return hasCrashed(now) && existsSync(storeOf(dir, 'keys')) ? triedWithoutKeys(dir, begin, onLine) : now;
}

/** They are what ends it if it starts without them, and with them ends again. */
async function triedWithoutKeys(
  dir: string,
  begin: (as?: 'trial') => Promise<Begun>,
  onLine: ((line: string) => void) | undefined,
) {
  renameSync(storeOf(dir, 'keys'), trialOf(dir));
  const trial = await begin('trial');
  if (!trial.exit) await trial.engine.stop();
  bringKeysBack(dir);
  if (trial.exit) return trial;
  const again = await begin();
  if (!hasCrashed(again)) return again;
  putStoreAside(dir, 'keys');
  onLine?.(
    'it ended at its start, twice, by what stands in db/keys, and starts without: they are put aside, and zones are signed with others',
  );
  return begin();
}
