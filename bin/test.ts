/**
 * `npm test`: types, lint, format, then every test file, each in a process of its own on real engines.
 * `npm test -- PATTERN` runs the files whose path holds PATTERN (also: types, lint, format). The last line is `N passed, N failed`.
 * Of the whole run, up to twelve files that failed run once more by themselves at the end: one that passes then is told as unsteady, with
 * what it said first. A shared machine can starve a file; who reads the run decides whether it was that or a race of ours.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { signalGroup } from '#server/store/engine-process.ts';
import { makeDemoFolder } from '#system/demo-folder.ts';
import { sharedEngines } from '#system/engines.ts';
import { projectFolder } from './bootstrap.js';
import { type Phase, phases } from './test/files.ts';
import type { Cost, Outcome } from './test/reporter.ts';
import { type Job, roomOfMachine, sideBySide } from './test/side-by-side.ts';

const total = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
const again: { file: string; limit: number; first: Result }[] = [];
const running = new Set<number>();
const begun = performance.now();
const scratch = mkdtempSync(join(tmpdir(), 'breakwater-results-'));
// Two hundred files and some thirty installations read the same sources: Node keeps what it compiled, for each account in a folder of its own.
const compiled = join(scratch, 'compiled');
mkdirSync(compiled);
chmodSync(scratch, 0o711);
chmodSync(compiled, 0o1777);

process.once('exit', () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

interface Ended {
  code: number | null;
  timedOut: boolean;
  output: string;
}

/** Runs a program in a process group of its own and kills the whole group after `limit` s; keeps the last 200 kB of what it says. */
function runProgram(command: string, args: readonly string[], limit: number, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise(done => {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', command, ...args], {
      cwd: projectFolder,
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const pid = child.pid;
    if (pid === undefined) return void child.once('error', error => done({ code: 127, timedOut: false, output: error.message }));
    running.add(pid);
    let output = '';
    const take = (text: string) => (output = (output + text).slice(-200_000));
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      signalGroup(pid, 'SIGKILL');
    }, limit * 1000);
    const finish = (code: number | null) => {
      clearTimeout(timer);
      running.delete(pid);
      signalGroup(pid, 'SIGKILL'); // what the file left running
      done({ code, timedOut, output });
    };
    // a grandchild may hold the pipes open: what counts is that the process itself has ended
    child.once('exit', code => void setTimeout(() => finish(code), 50));
  });
}

function tell(ok: boolean, name: string, detail: string, since: number, cpu?: number): void {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(58)} ${detail} ${seconds} s${cpu === undefined ? '' : `, ${cpu.toFixed(1)} s of CPU`}`,
  );
}

function showFailure(name: string, text: string): void {
  console.log(`\n--- ${name}\n${text.trimEnd()}\n`);
}

/** A check of the sources as one test. */
async function check(name: string, command: string, args: readonly string[]): Promise<void> {
  const since = performance.now();
  // the types of a machine that never ran them took 160 s beside other work
  const limit = 600;
  const { code, timedOut, output } = await runProgram(command, args, limit);
  total[code === 0 ? 'passed' : 'failed']++;
  tell(code === 0, name, '', since);
  if (code === 0) return;
  failures.push(name);
  showFailure(name, timedOut ? `took longer than ${limit} s` : output);
}

/** Errors that the server answered in some test are noted here; the caller may name a file, and so gather those of several runs. */
const sent = process.env.TEST_SENT ?? join(scratch, 'sent');

/**
 * A thousand ports for each file that runs: of one that starts anew what it had, the ports of a moment ago would be another's. The first half
 * is the file's own, the second for installations that it starts (system/whole.ts): what two processes choose from one range, they may both
 * choose. Whoever listens on the last one has it, so another run on this machine takes another.
 */
const portBlocks = Array.from({ length: 12 }, (_, i) => 20_000 + ((process.pid + i) % 12) * 1000);

interface PortBlock {
  from: number;
  /** until whoever uses it has ended */
  held: Server;
}
/** undefined: others have all of them. */
async function takePortBlock(): Promise<PortBlock | undefined> {
  for (const from of [...portBlocks]) {
    const held = createServer();
    const isOurs = await new Promise<boolean>(done => {
      held.once('error', () => done(false));
      held.listen({ port: from + 999, host: '127.0.0.1', exclusive: true }, () => done(true));
    });
    if (!isOurs) continue;
    // the one that was used last is taken last
    portBlocks.push(...portBlocks.splice(portBlocks.indexOf(from), 1));
    return { from, held };
  }
  return undefined;
}

interface Result {
  passed: number;
  skipped: number;
  /** Name and text of each failure */
  failed: [name: string, text: string][];
}

async function runFile(file: string, limit: number, env: NodeJS.ProcessEnv): Promise<Result> {
  const since = performance.now();
  const results = join(scratch, `${file.replaceAll('/', '_')}.json`);
  rmSync(results, { force: true });
  const reporter = `--test-reporter=${join(projectFolder, 'bin/test/reporter.ts')}`;
  const args = ['--enable-source-maps', reporter, `--test-reporter-destination=${results}`, file];
  const ports = await takePortBlock();
  const own = ports === undefined ? env : { ...env, TEST_PORTS: `${ports.from}-${ports.from + 500}` };
  const { code, timedOut, output } = await runProgram(process.execPath, args, limit, own);
  ports?.held.close();
  const lines = (existsSync(results) ? readFileSync(results, 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Outcome | Cost);
  const outcomes = lines.filter(line => 'name' in line);
  const cost = lines.find(line => 'cpu' in line);
  const leaves = outcomes.filter(outcome => !outcome.group);
  const skipped = leaves.filter(outcome => outcome.skipped);
  const bad = outcomes.filter(outcome => !outcome.ok && !outcome.skipped && (!outcome.group || outcome.error));
  const good = leaves.filter(outcome => outcome.ok && !outcome.skipped);
  // a file that dies, hangs or tests nothing is a failure of its own
  const wrong = timedOut
    ? `was still running after ${limit} s and was killed; a test hangs, or something keeps the process alive after its last test`
    : bad.length === 0 && code !== 0
      ? `ended with code ${code}`
      : leaves.length === 0
        ? 'holds no test'
        : undefined;
  const failed = bad.map((outcome): [string, string] => [`${file}: ${outcome.name}`, outcome.error ?? 'failed']);
  if (wrong) failed.push([file, wrong]);
  const ok = failed.length === 0;
  tell(
    ok,
    file,
    `${good.length} passed${bad.length ? `, ${bad.length} failed` : ''}${skipped.length ? `, ${skipped.length} skipped` : ''}`,
    since,
    cost?.cpu,
  );
  for (const [name, text] of failed) showFailure(name, text);
  if (!ok && output.trim()) console.log(`--- output of ${file}\n${output.slice(-8000).trimEnd()}\n`);
  return { passed: good.length, skipped: skipped.length, failed };
}

function count({ passed, skipped, failed }: Result): void {
  total.passed += passed;
  total.skipped += skipped;
  total.failed += failed.length;
  failures.push(...failed.map(([name]) => name));
}

const patterns = process.argv.slice(2);
const wanted = (name: string) => patterns.length === 0 || patterns.some(pattern => name.includes(pattern));
const bin = (name: string) => join(projectFolder, 'node_modules/.bin', name);

const chosen = phases()
  .map(phase => ({ ...phase, files: phase.files.filter(wanted) }))
  .filter(phase => phase.files.length > 0);
const has = (name: Phase['name']) => chosen.some(phase => phase.name === name);
if (chosen.length > 0) console.log(`${chosen.map(({ name, files }) => `${files.length} ${name}`).join(', ')}\n`);

// what files wait for begins with the first of them all
const env: NodeJS.ProcessEnv = {};
const engines = chosen.some(phase => phase.name !== 'unit')
  ? sharedEngines().then(made => void Object.assign(env, made))
  : undefined;
engines?.catch(() => undefined); // told by the first file that needs them
const checks: Job[] = [];
const console_ = has('browser') ? check('console', process.execPath, ['bin/run.js', '--build']) : undefined;
if (console_) checks.push(() => console_);
// most files of the browser begin with the demo: each starts on a copy of it
const demo = console_?.then(makeDemoFolder).then(
  folder => void (env.TEST_DEMO = folder),
  (error: Error) => console.log(`each file makes its own demo: ${error.message}`),
);
if (demo) checks.push(() => demo);
// One checker: each further one works out anew what they share (14 s of CPU by one, 26 by two, 36 by the usual four), and other files run beside it.
if (wanted('types')) checks.push(() => check('types', bin('tsc'), ['--noEmit', '--checkers', '1']));
if (wanted('lint')) checks.push(() => check('lint', bin('oxlint'), ['--type-aware']));
if (wanted('format')) checks.push(() => check('format', bin('oxfmt'), ['--check']));

const fileJob =
  (file: string, { name, limit }: Phase): Job =>
  async () => {
    if (name !== 'unit') await engines;
    if (name === 'browser') await demo;
    const first = await runFile(file, limit, { ...env, TEST_SENT: sent });
    if (first.failed.length > 0 && patterns.length === 0) again.push({ file, limit, first });
    else count(first);
  };
// files share one range of ports and one PostgreSQL, however many CPUs there are
const usual = Math.min(availableParallelism(), 4);
await sideBySide([...checks, ...chosen.flatMap(phase => phase.files.map(file => fileJob(file, phase)))], {
  usual,
  most: Math.min(3 * usual, 8),
  hasRoom: roomOfMachine(),
});
const unsteady: string[] = [];
/** More than these are no race: the run has told enough, and each of them may take its whole limit again. */
const mostAgain = 12;
/** A run that has taken so long is to end, s: whoever waits for it would stop it before it has told anything. */
const againUntil = 4700;
const judgedTwice = again.length > mostAgain ? [] : again;
if (judgedTwice.length === 0) for (const { first } of again) count(first);
else console.log('\nonce more, each by itself');
for (const { file, limit, first } of judgedTwice) {
  if (performance.now() - begun > againUntil * 1000) {
    count(first);
    continue;
  }
  const second = await runFile(file, limit, { ...env, TEST_SENT: sent });
  count(second);
  if (second.failed.length === 0) unsteady.push(...first.failed.map(([name]) => name));
}
if (patterns.length === 0) await check('every error of the catalogue was answered', process.execPath, ['bin/test/sent.ts', sent]);

if (failures.length > 0) console.log(`\nFailed:\n${failures.map(name => `  ${name}`).join('\n')}`);
if (unsteady.length > 0)
  console.log(`\nUnsteady, failed first and passed by itself:\n${unsteady.map(name => `  ${name}`).join('\n')}`);
if (total.passed + total.failed === 0) console.log(`\nNo test matches ${patterns.join(' ')}.`);
if (total.skipped > 0) console.log(`\n${total.skipped} skipped`);
console.log(`\n${((performance.now() - begun) / 1000).toFixed(0)} s`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
