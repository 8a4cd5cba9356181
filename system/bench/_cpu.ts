/** CPU time of processes, from /proc. */
import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system seconds a process has used, its threads included. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

export const row = (name: string, ...cells: string[]) =>
  console.log(name.padEnd(40) + cells.map(cell => cell.padStart(12)).join(''));
