/**
 * `curl … https://ADDRESS/join/TOKEN | sh`: what a machine that becomes a node runs, and the two archives it downloads. The token opens
 * them and is spent by joining alone (POST /api/v1/node/join), so a line that failed half way can be run again.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fail, fail } from '#contract/errors.ts';
import { type Bundle, isBundle } from '#contract/node/bundle.ts';
import { readJson } from '#host/files.ts';
import { Signer } from '../bus/credentials.ts';
import { stateOfToken } from '../bus/join-token.ts';
import { isLoopback } from '../bus/tls.ts';
import { sha256 } from '../kit/crypto.ts';
import type { Services } from '../kit/services.ts';
import { Door } from '../node/door.ts';
import { lacking } from './bundle.ts';
import type { Settings } from '../settings.ts';

const body = readFileSync(new URL('./join.sh', import.meta.url), 'utf8');
const tokenForm = /^[\w-]{16,200}$/;
/** A word of the shell, whatever it holds. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Whether a machine elsewhere reaches both console and bus. */
export const comesIn = ({ told, toldUrl }: Pick<Settings, 'told' | 'toldUrl'>): boolean =>
  told !== undefined && toldUrl !== undefined && !isLoopback(new URL(toldUrl.split(',')[0]!).hostname);

/** Why a line is worth nothing, for whoever pasted it. */
const refusals = {
  unknown: 'This line is not one of this installation, or was taken back: copy it whole from the console, or make another one.',
  used: 'This line was used already: each is for one machine. Make another one in the console (Nodes, add).',
  over: 'This line is not valid any more: make another one in the console (Nodes, add).',
  closed: 'This installation cannot be reached by other machines: set BREAKWATER_HOST there (docs/guide/two-machines.md).',
  noBundle: 'This installation has nothing to give to a node: run `npm run bundle` there, then run this line again.',
  tooMany: 'Too many wrong lines came from this address: wait a minute and run it again.',
} as const;

export function serveJoinLine(app: FastifyInstance, settings: Settings, services: Services): void {
  const { natsKeys, bundleFolder } = settings;
  const signer = natsKeys && new Signer(natsKeys.documentSeed);
  const door = new Door();
  // a new bundle counts without a restart
  const bundle = () => readJson(join(bundleFolder, 'bundle.json'), isBundle);

  /** @throws Fail invalidToken: it is nobody's */
  const stateOf = ({ ip }: FastifyRequest, token: string) =>
    door.enter(
      ip,
      `line ${sha256(token).toString('base64url')}`,
      async () => (await services.nodes?.isExpected({ token, name: '', publicKey: '', addresses: [], version: '' })) === true,
      async () => {
        const state = tokenForm.test(token) ? await stateOfToken(services.database.pool, token) : 'unknown';
        if (state === 'unknown') throw fail('invalidToken');
        return state;
      },
    );

  app.get<{ Params: { token: string } }>('/join/:token', async (request, reply) => {
    reply.type('text/x-shellscript; charset=utf-8').header('Cache-Control', 'no-store');
    // answered as a script, for curl would swallow the sentence of an error, and `sh` end well on nothing
    const refuse = (why: keyof typeof refusals) => `printf '%s\\n' ${quoted(refusals[why])} >&2\nexit 1\n`;
    try {
      const state = await stateOf(request, request.params.token);
      if (state !== 'open') return refuse(state);
    } catch (error) {
      if (!(error instanceof Fail)) throw error;
      return refuse(error.status === 429 ? 'tooMany' : 'unknown');
    }
    if (!services.told || !signer) return refuse('closed');
    const made = bundle();
    return made ? script(services.told, request.params.token, made, signer) : refuse('noBundle');
  });

  for (const part of ['application', 'runtime'] as const)
    app.get<{ Params: { token: string }; Querystring: { sha256?: unknown } }>(`/join/:token/${part}`, async (request, reply) => {
      const made = (await stateOf(request, request.params.token)) === 'open' ? bundle() : undefined;
      const { sha256: wanted } = request.query;
      // another machine of the control plane made the line: asked again, it may be that one that answers
      if (made && wanted !== undefined && wanted !== made[part].sha256)
        return reply.code(503).header('Retry-After', 2).type('text/plain').send(lacking);
      return made ? send(reply, join(bundleFolder, made[part].file), made[part].bytes) : reply.callNotFound();
    });
}

const send = (reply: FastifyReply, path: string, bytes: number) =>
  reply.type('application/gzip').header('Cache-Control', 'no-store').header('Content-Length', bytes).send(createReadStream(path));

function script(told: NonNullable<Services['told']>, token: string, bundle: Bundle, signer: Signer): string {
  const { version, node, packages, application, runtime } = bundle;
  const manifest = JSON.stringify({ version, node, packages, application, runtime });
  const values = {
    BW_URL: told.url,
    BW_TOKEN: token,
    BW_CA: told.ca?.trim() ?? '',
    BW_VERSION: version,
    BW_NODE: node,
    BW_PACKAGES: packages.join(' '),
    BW_MANIFEST: manifest,
    BW_SIGNATURE: signer.bundle(manifest),
    BW_KEY: signer.publicKey,
    BW_APPLICATION: application.sha256,
    BW_RUNTIME: runtime.sha256,
    BW_MEGABYTES: String(Math.ceil((application.bytes + runtime.bytes) / 1e6)),
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}`);
  return ['#!/bin/sh', ...lines, body].join('\n');
}
