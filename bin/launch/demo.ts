/** `--demo`: a site on a local origin, and a trickle of real traffic through the edge. */
import { get } from 'node:http';
import { join } from 'node:path';
import { StartError, poll, spawnEngine } from '#server/store/engine-process.ts';
import { callProgram } from './helpers.ts';
import type { Logs } from './logs.ts';
import { type ChildEnv, pings, rememberedPort } from './parts.ts';
import { type Settings, projectFolder } from './settings.ts';
import { type Part, type Supervised, supervise } from './supervise.ts';

interface DemoOptions {
  env: ChildEnv;
  settings: Settings;
  logs: Logs;
  onStart: (name: string, pid: number) => void;
}

export const demoHost = 'demo.breakwater.test';

/** Starts the origin, lets the server make zone, product, site and domain, then starts the traffic. */
export async function startDemo({ env, settings, logs, onStart }: DemoOptions): Promise<Supervised[]> {
  const log = (name: string, text: string) => logs.line(name, text);
  const port = await rememberedPort(settings.dataFolder, 'demo-origin');
  env.BREAKWATER_DEMO_ORIGIN = `127.0.0.1:${port}`;
  const origin: Part = {
    name: 'origin',
    start: () => demoProgram('bin/demo-origin.ts', [String(port)], 'origin', logs, () => pings(`http://127.0.0.1:${port}/`)),
    healthy: () => pings(`http://127.0.0.1:${port}/`),
  };
  const started = [await supervise(origin, { log, onStart })];
  await callProgram('server/src/demo.ts', env, line => log('demo', line));
  if (!settings.parts.has('agent')) return started;
  await awaitDemo(settings.edgeHttpPort, 30_000, line => log('demo', line));
  // its node is there now: names of the demo lead to it
  await callProgram('server/src/demo.ts', { ...env, BREAKWATER_DEMO_ANSWERS: '1' }, line => log('demo', line));
  const traffic: Part = {
    name: 'traffic',
    start: () => demoProgram('bin/demo-traffic.ts', [`http://127.0.0.1:${settings.edgeHttpPort}`, demoHost], 'traffic', logs),
  };
  return [...started, await supervise(traffic, { log, onStart })];
}

/**
 * Waits until the edge serves the demo. Another answer is the site's own configuration (a blacklist that names this machine): no reason to
 * end everything, but one to be told.
 * @throws StartError when the edge does not answer at all
 */
export async function awaitDemo(port: number, limitMs: number, log: (line: string) => void): Promise<void> {
  let status: number | undefined;
  // the front page is left untouched: whoever tries the demo sees a MISS first
  if (await poll(async () => (status = await demoStatus(port)) === 200, limitMs, 50)) return;
  if (status === undefined) {
    throw new StartError(
      `The edge does not answer for ${demoHost} after ${limitMs / 1000} s: data/logs/agent.log and data/logs/server.log say why.`,
    );
  }
  log(
    `Warning: the edge answers ${status} for ${demoHost}, not the page of the demo. The settings of its site may say so on purpose.`,
  );
}

/** What the edge answers for a page of the demo; undefined: nothing. */
function demoStatus(port: number): Promise<number | undefined> {
  return new Promise(done => {
    const sent = get({ host: '127.0.0.1', port, path: '/style.css', headers: { Host: demoHost }, timeout: 3000 }, answer => {
      answer.resume();
      done(answer.statusCode);
    });
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => done(undefined));
  });
}

async function demoProgram(file: string, args: string[], name: string, logs: Logs, ready?: () => Promise<boolean>) {
  const engine = await spawnEngine({
    command: process.execPath,
    args: [join(projectFolder, file), ...args],
    as: 'demo',
    reaches: [join(projectFolder, file), process.execPath],
    env: { PATH: '/usr/bin:/bin' },
    onLine: line => logs.line(name, line, { quiet: true }),
  });
  if (!ready) return engine;
  let gone = false;
  void engine.exited.then(() => (gone = true));
  if ((await poll(async () => gone || (await ready()), 20_000)) && !gone) return engine;
  await engine.stop(1000);
  throw new StartError(`The demo's ${name} did not start: ${engine.lastLines().at(-1) ?? 'it said nothing'}`);
}
