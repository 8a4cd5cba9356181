/** `breakwater doctor`: one sentence per matter, what is well and what is not; exit code 1 when something must be mended. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Finding, adviceOf, readChecks, sentenceOf, troubles } from '#contract/system/health.ts';
import { diskFinding } from '#contract/system/room.ts';
import { ruleText } from '#contract/rules.ts';
import { openDatabase } from '#server/store/db.ts';
import { StartError, accepts, findProgram } from '#server/store/engine-process.ts';
import { reachable } from '#server/bus/nats-launcher.ts';
import { busTlsOf } from '#server/bus/tls.ts';
import { busTrouble } from '#server/system/ask-bus.ts';
import { answers } from '#server/store/postgres-launcher.ts';
import { debianPackages, missingDebianPackages } from './bootstrap.js';
import { ownBusTls } from './launch/own-authority.ts';
import { diskOf, pings } from './launch/parts.ts';
import { checkPort } from './launch/ports.ts';
import { halfRestored } from './launch/restoring.ts';
import { runningDatabase, startedParts } from './launch/running.ts';
import { type Settings, portVariables, readSettings } from './launch/settings.ts';

let bad = 0;
function say(ok: boolean, sentence: string): void {
  if (!ok) bad++;
  console.log(`${ok ? 'ok ' : 'BAD'}  ${sentence}`);
}

/** A check as a sentence and what to do; only what fails makes the exit code 1. */
function tell(finding: Finding, since?: string): void {
  const sentence = `${sentenceOf(finding, 'en_US')}${since ? ` (since ${since})` : ''}`;
  if (finding.state === 'fail') say(false, `${finding.id}: ${sentence} ${adviceOf(finding, 'en_US')}`);
  else console.log(`look ${finding.id}: ${sentence} ${adviceOf(finding, 'en_US')}`);
}

function asked(ok: boolean, who: string): void {
  say(ok, ok ? `${who} answers.` : `${who} does not answer.`);
}

async function packages(): Promise<void> {
  const missing = missingDebianPackages(debianPackages);
  if (missing === undefined) {
    for (const program of ['nginx', 'nats-server', 'nft']) {
      const found = await findProgram(program);
      say(found !== undefined, `This is no Debian; the program ${program} ${found ? `is ${found}` : 'is missing'}.`);
    }
  } else {
    const install = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
    say(
      missing.length === 0,
      missing.length === 0
        ? `All ${debianPackages.length} Debian packages are installed.`
        : `Debian packages are missing; run as root: ${install}`,
    );
  }
  say(process.versions.node.startsWith('24.'), `Node ${process.versions.node} runs the programs.`);
}

function disk(settings: Settings): void {
  let folder = settings.dataFolder;
  while (!existsSync(folder)) folder = dirname(folder);
  const space = diskOf(folder);
  const finding = diskFinding(settings.dataFolder, space);
  if (finding.state === 'ok') say(true, `${(space.freeBytes / 1e9).toFixed(1)} GB are free for ${settings.dataFolder}.`);
  else tell(finding);
}

/** The pid of the Breakwater that runs on the folder, if one does. */
function runningOn(settings: Settings): number | undefined {
  const owner = join(settings.dataFolder, 'run/owner');
  const pid = existsSync(owner) ? Number(readFileSync(owner, 'utf8')) : Number.NaN;
  return pid > 0 && existsSync(`/proc/${pid}`) ? pid : undefined;
}

async function ports(settings: Settings): Promise<void> {
  for (const [variable, port] of portVariables(settings)) {
    try {
      await checkPort(port, variable, variable === 'BREAKWATER_DNS' ? 'udp' : 'tcp');
      say(true, `Port ${port} (${variable}) is free.`);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      say(false, error.message);
    }
  }
}

async function engines(settings: Settings, running: boolean): Promise<void> {
  if (settings.databaseUrl) asked(await answers(settings.databaseUrl), 'The PostgreSQL of DATABASE_URL');
  if (settings.natsUrl) {
    const trouble = await busTrouble(settings.natsUrl, process.env.NATS_CREDS, 5000, busTlsOf(process.env));
    asked(trouble === undefined, 'The NATS of NATS_URL');
  }
  if (settings.clickhouseUrl)
    asked(await pings(`${new URL(settings.clickhouseUrl).origin}/ping`), 'The ClickHouse of CLICKHOUSE_URL');
  if (!running) return;
  const started = startedParts(settings.dataFolder);
  for (const [name, port] of started) {
    if (!port) continue;
    // an open port is no answer where more can be asked
    const creds = join(settings.dataFolder, 'nats/server.creds');
    const answers_ = name === 'nats' ? await busAnswers(settings, port, creds) : await accepts(port);
    asked(answers_, `${name} on port ${port}`);
  }
  // where it was started, whatever the environment of this command says
  if (started.has('server')) await checks('server', `http://127.0.0.1:${started.get('server') ?? settings.consolePort}`);
  const agent = started.get('agent');
  if (agent) await checks('agent', `http://127.0.0.1:${agent}`);
}

/** The embedded bus, with the authority of the one who set it up. */
async function busAnswers({ addresses, dataFolder }: Settings, port: number, creds: string): Promise<boolean> {
  const { bus, busFiles } = addresses;
  if (!bus) return (await busTrouble(`nats://127.0.0.1:${port}`, creds, 3000, undefined)) === undefined;
  const tls = busTlsOf(busFiles ? process.env : ownBusTls(dataFolder));
  return (await busTrouble(`tls://${reachable(bus.host)}:${port}`, creds, 3000, tls)) === undefined;
}

const rowsMost = 100;
/** Rows that an earlier release let in and this one would not: asked of the data itself, so that they are known before an upgrade. */
async function storedRules(settings: Settings): Promise<void> {
  // the declarations of all lists
  await import('#server/calls.ts');
  const { StoredRules } = await import('#server/system/stored-rules.ts');
  const database = openDatabase(runningDatabase(settings), 1);
  try {
    const stored = new StoredRules(database.pool);
    while (!(await stored.step()));
    for (const { operator, site, name, kind, id, field, rule, bounds } of stored.found.slice(0, rowsMost)) {
      const whose = `operator ${operator}, ${site === null ? 'all its sites' : `site ${site} (${name})`}`;
      const what = ruleText({ rule, ...(bounds ? { bounds } : {}) }, 'en_US');
      console.log(`look rules: ${whose}: ${kind} ${id}, ${field}: ${what}. Correct or delete it, best before an upgrade.`);
    }
    const more = stored.found.length - rowsMost;
    if (more > 0) console.log(`look rules: and ${more} more.`);
    if (stored.found.length === 0) say(true, 'This version accepts every stored rule.');
  } catch (error) {
    say(false, `Stored rules cannot be judged: ${(error as Error).message || (error as NodeJS.ErrnoException).code}`);
  } finally {
    await database.close();
  }
}

/** What a running process finds itself, the worst first. */
async function checks(name: string, origin: string): Promise<void> {
  try {
    const answer = await fetch(`${origin}/readyz?verbose`, { signal: AbortSignal.timeout(5000) });
    const list = readChecks(((await answer.json()) as { checks?: unknown }).checks, 1000);
    const wrong = troubles(list);
    for (const check of wrong) tell(check, check.since);
    if (!wrong.length) say(true, `All ${list.length} checks of ${name} are well.`);
  } catch {
    asked(false, `${name} (${origin}/readyz)`);
  }
}

try {
  const settings = readSettings([], process.env);
  await packages();
  disk(settings);
  const half = halfRestored(settings.dataFolder);
  if (half) say(false, half);
  const pid = runningOn(settings);
  if (pid) say(true, `Breakwater runs on ${settings.dataFolder} (process ${pid}).`);
  else await ports(settings);
  await engines(settings, pid !== undefined);
  if (pid || settings.databaseUrl) await storedRules(settings);
} catch (error) {
  say(false, (error as Error).message);
}
process.exit(bad > 0 ? 1 : 0);
