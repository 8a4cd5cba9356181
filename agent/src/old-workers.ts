/**
 * Workers of before a reload. They go on with the long answers they have begun (worker_shutdown_timeout, render/nginx.ts), a day perhaps,
 * each with memory of its own: many reloads must not make many of them.
 */
import { readFileSync } from 'node:fs';
import { allProcesses, signal } from './processes.ts';

/** Sets of workers beside those that take new connections. */
const generationsMost = 6;

function title(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // gone
  }
}

/** The newest first. */
export const workersOf = (master: number): { pid: number; start: number; isOld: boolean }[] =>
  allProcesses()
    .filter(one => one.parent === master && one.name === 'nginx')
    .map(({ pid, start }) => ({ pid, start: Number(start), title: title(pid) }))
    .filter(one => one.title.startsWith('nginx: worker process'))
    .map(({ pid, start, title }) => ({ pid, start, isOld: title.includes('shutting down') }))
    .sort((a, b) => b.start - a.start);

/** Those of before a reload; of no master none. */
export const oldWorkers = (master: number | undefined): number[] =>
  master === undefined ? [] : workersOf(master).flatMap(one => (one.isOld ? [one.pid] : []));

/** Before a reload: makes room for the workers it will leave behind. @returns process ids of the oldest, which were ended */
export function endOldest(master: number, most = generationsMost): number[] {
  const workers = workersOf(master);
  const old = workers.filter(one => one.isOld).map(one => one.pid);
  const current = workers.length - old.length;
  const ended = old.slice((most - 1) * Math.max(current, 1));
  for (const pid of ended) signal(pid, 'SIGTERM');
  return ended;
}
