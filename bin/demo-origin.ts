/**
 * The origin of `--demo`: a small website whose pages differ in what a cache may do with them (RFC 9111).
 *   node bin/demo-origin.ts PORT
 */
import { createHash } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

interface Page {
  type: string;
  /** Cache-Control, or undefined for none at all. */
  cache?: string;
  headers?: Record<string, string>;
  status?: number;
  body: (request: IncomingMessage) => string;
}

const html = (title: string, text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="stylesheet" href="/style.css">
<h1>${title}</h1><p>${text}</p><ul><li><a href="/articles/1">An article</a> may be kept for ten minutes</ul>\n`;

const pages: [RegExp, Page][] = [
  [
    /^\/$/,
    { type: 'text/html', cache: 'public, max-age=300', body: () => html('Harbour', 'This page may be kept for five minutes.') },
  ],
  [
    /^\/articles\/\d{1,3}$/,
    {
      type: 'text/html',
      cache: 'public, max-age=600',
      body: r => html(`Article ${r.url!.slice(10)}`, 'Ten minutes.'.repeat(200)),
    },
  ],
  [
    /^\/style\.css$/,
    {
      type: 'text/css',
      cache: 'public, max-age=86400, immutable',
      body: () => 'body{font:16px/1.5 sans-serif;margin:3rem auto;max-width:40rem}\n',
    },
  ],
  [
    /^\/images\/\d{1,2}\.svg$/,
    { type: 'image/svg+xml', cache: 'public, s-maxage=3600', body: r => picture(Number(/\d+/.exec(r.url!)?.[0])) },
  ],
  [
    /^\/news$/,
    {
      type: 'text/html',
      cache: 'public, max-age=5, stale-while-revalidate=30, stale-if-error=600',
      body: () => html('News', new Date().toUTCString()),
    },
  ],
  [
    /^\/hello$/,
    {
      type: 'text/html',
      cache: 'public, max-age=120',
      headers: { Vary: 'Accept-Language' },
      body: r =>
        html(
          'Hello',
          String(r.headers['accept-language'] ?? '')
            .slice(0, 40)
            .replace(/[^\w,;=.\- ]/g, ''),
        ),
    },
  ],
  [/^\/account$/, { type: 'text/html', cache: 'private, no-store', body: () => html('Account', 'Kept nowhere.') }],
  [
    /^\/api\/time$/,
    { type: 'application/json', cache: 'no-cache', body: () => `${JSON.stringify({ time: new Date().toISOString() })}\n` },
  ],
  [/^\/old$/, { type: 'text/plain', status: 301, cache: 'max-age=3600', headers: { Location: '/' }, body: () => 'moved\n' }],
];

function picture(seed: number): string {
  const circles = Array.from(
    { length: 12 },
    (_, i) =>
      `<circle cx="${(seed * 37 + i * 53) % 320}" cy="${(seed * 17 + i * 29) % 200}" r="${8 + ((i * 7) % 30)}" fill="hsl(${(seed * 40 + i * 25) % 360} 60% 60% / .6)"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200">${circles.join('')}</svg>\n`;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '/').split('?')[0]!;
  const page = pages.find(([pattern]) => pattern.test(path))?.[1];
  const {
    type,
    cache,
    headers,
    status = 200,
    body,
  } = page ?? { type: 'text/plain', cache: 'max-age=10', status: 404, body: () => 'There is no such page.\n' };
  const content = Buffer.from(body({ ...request, url: path, headers: request.headers } as IncomingMessage));
  const etag = `"${createHash('sha1').update(content).digest('base64url').slice(0, 16)}"`;
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
  if (cache) response.setHeader('Cache-Control', cache);
  if (status === 200) response.setHeader('ETag', etag);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  if (status === 200 && request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
  response.writeHead(status, { 'Content-Length': content.length });
  response.end(request.method === 'HEAD' ? undefined : content);
}

const port = Number(process.argv[2]);
const server = createServer((request, response) => {
  request.resume();
  answer(request, response);
});
server.on('error', (error: NodeJS.ErrnoException) => {
  console.error(error.code === 'EADDRINUSE' ? `port ${port} is taken` : error.message);
  process.exit(1);
});
server.listen(port, '127.0.0.1');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
