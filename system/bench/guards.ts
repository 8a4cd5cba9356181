/**
 * What the guards that walk the table of calls over HTTP cost, as the table grows: today's calls, and the same walked four times over on the
 * same database (its rows grow as they would). CPU of the guards, and of PostgreSQL for all of them, for each call; what grows faster than the
 * table shows as a ratio above 1.
 *
 *   npm run bench -- guards [PATTERN]        BENCH_TIMES (default 1,4), BENCH_WIDTH files at a time (default 2, as npm test)
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { groups } from '#contract/index.ts';
import { mounted } from '#contract/kit/call.ts';
import { sharedEngines } from '#system/engines.ts';
import { cpuSeconds, row } from './_cpu.ts';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));
/** No walk: what a change of the guards themselves breaks, and what PostgreSQL plans. */
const others = /samples|list-sql/;
const noted = 'process.on("exit",()=>require("fs").writeFileSync(process.env.BENCH_CPU,JSON.stringify(process.cpuUsage())))';

const compiled = mkdtempSync(join(tmpdir(), 'breakwater-guards-compiled-'));
process.once('exit', () => rmSync(compiled, { recursive: true, force: true }));

interface Cost {
  /** CPU of the file's own process */
  cpu: number;
  wall: number;
}

export async function run([pattern = '']: string[]): Promise<void> {
  const calls = [...mounted(groups)].length;
  const sides = (process.env.BENCH_TIMES ?? '1,4').split(',').map(Number);
  const width = Number(process.env.BENCH_WIDTH ?? 2);
  const files = globSync('server/test/guards/*.test.ts', { cwd: projectFolder })
    .filter(file => !others.test(file) && file.includes(pattern))
    .sort();
  const env = await sharedEngines();
  const postmaster = await postmasterOf(env.TEST_DATABASE_URL!);
  const found: { times: number; wall: number; postgres: number; costs: Map<string, Cost> }[] = [];
  for (const times of sides) {
    const [since, before] = [performance.now(), cpuSeconds(postmaster, true)];
    const costs = new Map<string, Cost>();
    const queue = [...files];
    const work = async () => {
      for (let file = queue.shift(); file; file = queue.shift()) costs.set(file, await costOf(file, times, env));
    };
    await Promise.all(Array.from({ length: width }, work));
    const wall = (performance.now() - since) / 1000;
    found.push({ times, wall, postgres: cpuSeconds(postmaster, true) - before, costs });
  }

  console.log(`${calls} calls, ${files.length} files, ${width} at a time\n`);
  row('CPU s (wall s)', ...sides.map(times => `${times * calls} calls`));
  for (const file of files) {
    const cells = found.map(({ costs }) => `${costs.get(file)!.cpu.toFixed(1)} (${costs.get(file)!.wall.toFixed(0)})`);
    row(file.replace('server/test/guards/', '').replace('.test.ts', ''), ...cells);
  }
  row('PostgreSQL', ...found.map(({ postgres }) => postgres.toFixed(1)));
  const totals = found.map(({ costs, postgres }) => [...costs.values()].reduce((sum, { cpu }) => sum + cpu, postgres));
  row('together', ...totals.map(total => total.toFixed(1)));
  row('ms for each call', ...totals.map((total, i) => ((total * 1000) / calls / sides[i]!).toFixed(0)));
  row('wall', ...found.map(({ wall }) => wall.toFixed(0)));
  const [first, last] = [0, sides.length - 1];
  if (last > first)
    console.log(
      `\na call among ${sides[last]} times as many: ${(totals[last]! / totals[0]! / (sides[last]! / sides[0]!)).toFixed(2)}`,
    );
}

/** The server's first process: what its backends used is its own once they have ended. */
async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const stat = readFileSync(`/proc/${rows[0]!.pid}/stat`, 'latin1').replace(/^.*\) /s, '');
  await client.end();
  return Number(stat.split(' ')[1]);
}

async function costOf(file: string, times: number, env: NodeJS.ProcessEnv): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-guards-'));
  const note = join(folder, 'cpu');
  const since = performance.now();
  try {
    const preload = join(folder, 'note.cjs');
    writeFileSync(preload, noted);
    const child = spawn(process.execPath, ['--require', preload, file], {
      cwd: projectFolder,
      // as `npm test` does
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...env, GUARD_TIMES: String(times), BENCH_CPU: note },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const code = await new Promise(done => child.once('exit', done));
    if (code !== 0) console.error(`${file}, ${times} times:\n${output.slice(0, 3000)}`);
    const { user, system } = JSON.parse(readFileSync(note, 'utf8')) as NodeJS.CpuUsage;
    return { cpu: (user + system) / 1e6, wall: (performance.now() - since) / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
