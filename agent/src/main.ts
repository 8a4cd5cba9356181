/** `node agent/src/main.ts --data DIR [--server URL --join TOKEN]`: a node, until SIGTERM or SIGINT. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readJson, writeWhole } from '#host/files.ts';
import { settingOf } from '#host/secrets.ts';
import { startAgent } from './agent.ts';
import { joinOnly, takeIdentity } from './join-only.ts';
import { reach } from './reach.ts';
import { edgeFolder } from './render/edge-folder.ts';
import { checkStart, listenOf, startOf } from './start-options.ts';
import { Tried, tell } from './upgrade/child.ts';
import { holdFolder, place, takeAsked } from './upgrade/place.ts';
import { isVersion, sentenceOf, upgradeFiles } from './upgrade/programs.ts';
import { isPlan, tryOut } from './upgrade/trial.ts';
import { type Change, trialMs } from './upgrade/upgrade.ts';
import { noWay } from './upgrade/watch.ts';
import { Verifier } from './verify.ts';

const usage = `node agent/src/main.ts --data DIR [--server URL --join TOKEN]

  --data DIR       what the node keeps: its identity, its configuration, nginx's cache and logs
  --server URL     the control plane; needed once                     BREAKWATER_URL
  --ca FILE        who vouches for the control plane (PEM); needed once; default: whom every machine knows
  --join TOKEN     a join token of the operator; needed once          BREAKWATER_JOIN_TOKEN
  --join-only      join, say how it went, and end
  --bundle DIR     with it: what lies there must be signed by the installation
  --beside DIR     with it: who the node becomes is written there; one that works in --data goes on as it is
  --check          say what is wrong with what it would be started with, and that is all
  --take DIR       the node in --data becomes who was written there, and that is all
  --name NAME      name of the node; default: the machine's
  --http PORTS     ports for visitors, comma-separated                BREAKWATER_EDGE_HTTP   80
  --https PORTS                                                       BREAKWATER_EDGE_HTTPS  none
  --relay PORT     for edges of its zone, while it is a relay         BREAKWATER_EDGE_RELAY  8447
  --listen HOSTS   addresses for visitors, comma-separated            BREAKWATER_EDGE_HOST   every IPv4 and IPv6 address
  --health PORT    /healthz /readyz /metrics on 127.0.0.1             BREAKWATER_AGENT_PORT  9180

An upgrade starts the new version with these, and they stay what they are from release to release:
  --shadow         serve what DIR holds beside the node, ask and tell nobody, end with whoever started it
  --reach          say whether the control plane is found with what DIR holds (it ends with 0, or 3), beside the node
  --trial FILE     take the node over, find out whether it serves, say so, and let go of it
  --place DIR      put the version that lies in DIR/upgrade below --prefix, if --key FILE says that it is the installation's`;

const leaveMs = 20_000;

// whatever we and nginx write: for our group at most
process.umask(0o027);

const texts = [
  'data',
  'server',
  'ca',
  'join',
  'bundle',
  'beside',
  'take',
  'name',
  'http',
  'https',
  'relay',
  'listen',
  'health',
  'trial',
  'place',
  'prefix',
  'key',
];
const flags = ['join-only', 'check', 'shadow', 'reach', 'help'];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: Object.fromEntries(
      [...texts, ...flags].map(name => [name, { type: flags.includes(name) ? ('boolean' as const) : ('string' as const) }]),
    ),
  });
  const text = (name: string, variable?: string) =>
    (values[name] as string | undefined) ?? (variable && settingOf(variable, process.env));
  if (values.help) {
    console.log(usage);
    return;
  }
  const [from, prefix, keyFile] = [text('place'), text('prefix'), text('key')];
  if (from) {
    if (!prefix || !keyFile) throw new Error('--place needs --prefix and --key');
    return placeAsked(from, prefix, keyFile);
  }
  const data = text('data', 'BREAKWATER_NODE_DATA');
  if (!data) throw new Error(`--data is missing\n\n${usage}`);
  if (values.reach) return reach(data).catch(fail => (console.error(sentenceOf(fail)), process.exit(noWay)));
  if (values.check) return checkStart(startOf(text));
  const caFile = text('ca');
  const serverCA = caFile && readFileSync(caFile, 'utf8');
  if (values['join-only']) {
    const joinToken = text('join', 'BREAKWATER_JOIN_TOKEN');
    const server = text('server', 'BREAKWATER_URL');
    if (!joinToken || !server) throw new Error('--join-only needs --server and --join (or BREAKWATER_JOIN_TOKEN_FILE)');
    const more = { name: text('name'), bundle: text('bundle'), beside: text('beside'), listen: listenOf(text) };
    console.log(await joinOnly({ data, server, serverCA, joinToken, ...more }));
    return;
  }
  const taken = text('take');
  if (taken) return takeIdentity(data, taken);
  const isShadow = values.shadow === true;
  const start = startOf(text, isShadow);
  const planFile = text('trial');
  const plan = planFile ? readJson(planFile, isPlan) : undefined;
  if (planFile && !plan) throw new Error(`${planFile} is no plan of a trial`);
  // A start may wait for an nginx that is silent: who ends it then means nginx too.
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => ending.abort());
  const endWith = (act: () => Promise<void>) =>
    act().then(
      () => process.exit(0),
      error => {
        console.error(sentenceOf(error));
        process.exit(1);
      },
    );
  let stop = () => agent.stop();
  /** The same process with a fresh memory and today's files: whoever watches over it by its id notices nothing. */
  const again = (node = process.execPath, program = process.argv[1]!) =>
    process.execve!(node, [node, ...process.execArgv, program, ...process.argv.slice(2)], process.env);
  const anyway = (error: unknown) => console.error(String(error));
  /** It may be what is wrong with us that we cannot leave; who starts us anew starts what was chosen. */
  function become({ node, main: program }: { node: string; main: string }): void {
    const late = new Promise(done => setTimeout(done, leaveMs));
    void Promise.race([agent.leave().catch(anyway), late])
      .then(() => again(node, program))
      .catch(error => (anyway(error), process.exit(1)));
  }
  async function change({ node, main: program, args, over }: Change): Promise<void> {
    await agent.leave().catch(anyway);
    const tried = new Tried({ node, main: program }, [...process.argv.slice(2), ...args], true);
    // nginx is the new one's while it is tried
    stop = async () => {
      tried.kill('SIGTERM');
      await tried.end();
    };
    const { why } = await tried.said(trialMs);
    await tried.end();
    if (ending.signal.aborted) return;
    const next = over(why);
    again(next?.node, next?.main);
  }
  const agent = await startAgent({
    data,
    isShadow,
    ...(isShadow && { workers: 1 }),
    isTrial: plan !== undefined,
    ...(!isShadow &&
      !plan && {
        restart: () =>
          void agent.stop().then(
            () => again(),
            (error: unknown) => (anyway(error), again()),
          ),
        change: (how: Change) => void change(how),
        become,
      }),
    ending: ending.signal,
    server: text('server', 'BREAKWATER_URL'),
    serverCA,
    joinToken: text('join', 'BREAKWATER_JOIN_TOKEN'),
    name: text('name'),
    ...start,
    log: message => console.log(isShadow ? `shadow: ${message}` : message),
  });
  if (ending.signal.aborted) return endWith(() => stop());
  ending.signal.addEventListener('abort', () => void endWith(() => stop()));
  if (isShadow) {
    process.once('disconnect', () => void endWith(() => agent.stop()));
    await tell({ why: agent.tried.problems()[0] ?? null });
    if (!process.connected) await endWith(() => agent.stop());
  } else if (plan) {
    process.once('disconnect', () => void endWith(() => agent.leave()));
    await tell({ why: await tryOut(plan, agent.tried, `${edgeFolder}lua`) });
    // who started us goes on with nginx
    if (!process.connected) await endWith(() => agent.leave());
  }
}

/** Root's part of an upgrade: it says what became of it where the node's user cannot write. */
async function placeAsked(data: string, prefix: string, keyFile: string): Promise<void> {
  // what is placed is read by the node's user
  process.umask(0o022);
  const { folder, place: asking } = upgradeFiles(data);
  if (!existsSync(asking)) return;
  let asked = '';
  let why: string | null = null;
  try {
    const held = holdFolder(folder);
    try {
      asked = takeAsked(join(held.path, basename(asking)));
      const verifier = new Verifier(readFileSync(keyFile, 'utf8').trim());
      const isSigned = (list: string, signature: string) => verifier.bundle(list, signature);
      await place({ prefix, from: held.path, isSigned, keep: versionsIn(asked) });
    } finally {
      held.close();
    }
  } catch (error) {
    why = sentenceOf(error);
    console.error(why);
  }
  const [version = ''] = versionsIn(asked);
  writeWhole(join(prefix, 'placed.json'), JSON.stringify({ version, why, asked }), { mode: 0o644 });
}
/** The one that is asked for, and the one that asks. */
const versionsIn = (asked: string) => asked.split(' ').slice(0, 2).filter(isVersion);

main().catch(error => {
  console.error(sentenceOf(error));
  process.exit(1);
});
