/** Serves the built console: hashed assets for ever, index.html never from a cache and with a nonce per answer. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import serve from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { fail } from '#contract/errors.ts';

const built = fileURLToPath(new URL('../../console/dist/', import.meta.url));
const noncePlace = '__NONCE__';
/** The switch of the deployment (decisions.md, Sessions): an offline build has no admin area. */
const offlinePlace = /(<meta name="breakwater-offline" content=")false/;
const isOffline = process.env['BREAKWATER_OFFLINE'] === 'true';

export async function serveConsole(app: FastifyInstance, dist = built): Promise<void> {
  if (!existsSync(`${dist}index.html`)) return;
  // a new build is picked up without a restart: its assets have other names
  let index = { text: '', time: -1 };
  const readIndex = () => {
    const time = statSync(`${dist}index.html`).mtimeMs;
    if (time !== index.time)
      index = { text: readFileSync(`${dist}index.html`, 'utf8').replace(offlinePlace, `$1${isOffline}`), time };
    return index.text;
  };
  await app.register(serve, {
    root: `${dist}assets`,
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    cacheControl: true,
    // the API's "no-store" is for answers, not for files that never change
    setHeaders: reply => void reply.header('Cache-Control', 'public, max-age=31536000, immutable'),
  });
  for (const name of ['favicon.svg', 'favicon.ico', 'robots.txt', 'NOTICES/third-party.txt'])
    if (existsSync(`${dist}${name}`))
      app.get(`/${name}`, (_request, reply) =>
        reply
          .header('Cache-Control', 'no-cache')
          .type(typeOf(name))
          .send(readFileSync(`${dist}${name}`)),
      );
  const page = async (
    request: { url: string },
    reply: { header(name: string, value: string): typeof reply; type(t: string): typeof reply; send(body: string): unknown },
  ) => {
    if (isApi(request.url)) throw fail('pathInvalid');
    const nonce = randomBytes(16).toString('base64');
    return reply
      .header('Cache-Control', 'no-cache')
      .header('Referrer-Policy', 'no-referrer')
      .header('X-Frame-Options', 'DENY')
      .header('Cross-Origin-Opener-Policy', 'same-origin')
      .header(
        'Content-Security-Policy',
        // style attributes come from the component library's measuring; they cannot carry a nonce
        `default-src 'self'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'`,
      )
      .type('text/html; charset=utf-8')
      .send(readIndex().replaceAll(noncePlace, nonce));
  };
  for (const path of ['/', '/404', '/user', '/user/*', '/client', '/client/*', '/admin', '/admin/*'])
    app.get(path, page as never);
  // any other address that a person opens is the console's to answer (§2); one of the API is none of those
  app.get('/*', page as never);
}

/** Whether an address means the API, however it is written: a mistyped call must not read like one that went well. */
function isApi(url: string): boolean {
  let path = url.replace(/[?#].*$/s, '');
  // what is encoded twice somebody on the way may have decoded once
  for (let i = 0; i < 3; i++)
    try {
      path = decodeURIComponent(path);
    } catch {
      break;
    }
  return /^\/api(?:\/|$)/i.test(posix.normalize(`/${path.replaceAll('\\', '/')}`));
}

function typeOf(name: string) {
  if (name.endsWith('.svg')) return 'image/svg+xml';
  if (name.endsWith('.js')) return 'text/javascript; charset=utf-8';
  return name.endsWith('.ico') ? 'image/x-icon' : 'text/plain; charset=utf-8';
}
