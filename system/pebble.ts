/** Pebble, the authority for tests of ACME that Let's Encrypt keeps, with a name server that says of every name that it is this machine. */
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { type Engine, freePort, poll, spawnEngine } from '#server/store/engine-process.ts';
import { authority } from './authority.ts';
import { testFolder } from './engines.ts';

export interface PebbleOptions {
  /** where it looks for the answers to its challenges, on this machine */
  httpPort: number;
  /** nonces it refuses although they are good, in percent */
  nonceReject?: number;
  /** seconds at most that it waits before it looks for an answer; 0: none */
  sleep?: number;
  /** customers it knows, by the key it gave them: then it takes no others */
  bound?: Record<string, string>;
  /** seconds that its certificates are good for */
  lifetime?: number;
  /** the name server it asks instead of its own (`127.0.0.1:port`); then names are not its to lose */
  dns?: string;
}
export interface Pebble {
  directory: string;
  /** the name server it asks */
  dns: string;
  /** PEM: who signed the certificate of its own address */
  ca: string;
  /** PEM: what its certificates end below */
  root(): Promise<string>;
  /** names that have no address from now on */
  lose(name: string): Promise<void>;
  find(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const { httpPort, nonceReject = 0, sleep = 0, bound, lifetime, dns: given } = options;
  const dir = testFolder('pebble');
  const [port, management, dns, dnsManagement, unused] = await Promise.all([1, 2, 3, 4, 5].map(() => freePort(12_000, 19_999)));
  const own = authority('Pebble');
  const { chain, key } = own.issue(['127.0.0.1']);
  writeFileSync(join(dir, 'cert.pem'), chain);
  writeFileSync(join(dir, 'key.pem'), key);
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: join(dir, 'cert.pem'),
        privateKey: join(dir, 'key.pem'),
        httpPort,
        tlsPort: unused,
        ocspResponderURL: '',
        externalAccountBindingRequired: bound !== undefined,
        externalAccountMACKeys: bound ?? {},
        ...(lifetime ? { certificateValidityPeriod: lifetime } : {}),
      },
    }),
  );
  const off = ['-http01', '-https01', '-tlsalpn01'].flatMap(name => [name, '']);
  const started: Engine[] = [];
  const start = async (command: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
    const engine = await spawnEngine({ command, args, env: { ...process.env, ...env }, ref: false, deathSignal: 'SIGKILL' });
    started.push(engine);
  };
  await start('pebble-challtestsrv', [
    ...off,
    ...['-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${dnsManagement}`],
    ...['-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''],
  ]);
  await start('pebble', ['-strict', '-config', join(dir, 'config.json'), '-dnsserver', given ?? `127.0.0.1:${dns}`], {
    PEBBLE_WFE_NONCEREJECT: String(nonceReject),
    // it reuses half of what it has seen otherwise: which half is chance
    PEBBLE_AUTHZREUSE: '0',
    ...(sleep ? { PEBBLE_VA_SLEEPTIME: String(sleep) } : { PEBBLE_VA_NOSLEEP: '1' }),
  });
  const get = (at: string) =>
    new Promise<string>((done, failed) => {
      const request = https.get(at, { ca: own.root }, answer => {
        let text = '';
        answer.setEncoding('utf8').on('data', part => (text += part));
        answer.on('end', () => (answer.statusCode === 200 ? done(text) : failed(new Error(`${answer.statusCode} ${text}`))));
      });
      request.on('error', failed);
    });
  const directory = `https://127.0.0.1:${port}/dir`;
  const tell = async (path: string, body: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${dnsManagement}/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  };
  const stop = async () => void (await Promise.all(started.map(engine => engine.stop())));
  const isReady = await poll(
    () =>
      get(directory).then(
        () => true,
        () => false,
      ),
    20_000,
    50,
  );
  const isNamed = await poll(
    () =>
      tell('clear-servfail', { host: 'x.test.' }).then(
        () => true,
        () => false,
      ),
    20_000,
    50,
  );
  if (!isReady || !isNamed) {
    await stop();
    throw new Error(`Pebble did not start: ${started.flatMap(engine => engine.lastLines().slice(-3)).join(' | ')}`);
  }
  return {
    directory,
    dns: given ?? `127.0.0.1:${dns}`,
    ca: own.root,
    root: () => get(`https://127.0.0.1:${management}/roots/0`),
    lose: name => tell('set-servfail', { host: `${name}.` }),
    find: name => tell('clear-servfail', { host: `${name}.` }),
    stop,
  };
}
