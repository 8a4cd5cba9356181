/** CPU time of processes, from /proc. */
import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system seconds a process has used, its threads included; `isWhole`: and its children that have ended. */
export function cpuSeconds(pid: number, isWhole = false): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const counted = fields.slice(11, isWhole ? 15 : 13).map(Number);
  return counted.reduce((sum, n) => sum + n, 0) / ticks;
}

export const row = (name: string, ...cells: string[]) =>
  console.log(name.padEnd(40) + cells.map(cell => cell.padStart(12)).join(''));
