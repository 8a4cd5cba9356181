/**
 * The trickle of `--demo`: about two requests per second through the edge, as different visitors on this machine would send them.
 *   node bin/demo-traffic.ts http://127.0.0.1:8081 demo.breakwater.test
 */
import { Agent, request } from 'node:http';

const [edge = '', host = ''] = process.argv.slice(2);
const { hostname, port } = new URL(edge);
const perSecond = 2;

/** What is asked for, and how often in proportion. The front page is left to the person who tries the demo: its first answer is a MISS. */
const paths: [weight: number, make: () => string][] = [
  [30, () => `/articles/${1 + Math.floor(60 * Math.random() ** 3)}`],
  [25, () => `/images/${Math.floor(20 * Math.random() ** 2)}.svg`],
  [15, () => '/style.css'],
  [12, () => '/news'],
  [6, () => '/hello'],
  [5, () => '/api/time'],
  [4, () => '/account'],
  [2, () => `/no-such-page-${Math.floor(Math.random() * 5)}`],
  [1, () => '/old'],
];

const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'curl/8.14.1',
];
const languages = ['zh-TW', 'zh-CN', 'en-US'];
const referers = ['', '', 'https://www.google.com/', 'https://news.example/', `http://${host}/`];

const total = paths.reduce((sum, [weight]) => sum + weight, 0);
function anyPath(): string {
  let left = Math.random() * total;
  for (const [weight, make] of paths) if ((left -= weight) < 0) return make();
  return '/news';
}
const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

const agent = new Agent({ keepAlive: false });
let failures = 0;

function visit(): void {
  const referer = any(referers);
  const headers = {
    Host: host,
    'User-Agent': any(userAgents),
    'Accept-Language': any(languages),
    ...(referer && { Referer: referer }),
  };
  // each visitor an address of his own: all of 127.0.0.0/8 is this machine
  const localAddress = `127.0.0.${2 + Math.floor(40 * Math.random() ** 2)}`;
  const sent = request({
    hostname,
    port,
    path: anyPath(),
    method: Math.random() < 0.03 ? 'HEAD' : 'GET',
    headers,
    agent,
    localAddress,
    timeout: 10_000,
  });
  sent.on('response', response => {
    failures = 0;
    response.resume();
  });
  sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
  sent.on('error', error => {
    if (failures++ % 50 === 0) console.log(`the edge did not answer: ${error.message}`);
  });
  sent.end();
}

function next(): void {
  visit();
  // exponential gaps: visitors do not keep step; a long silence would look like a fault
  setTimeout(next, Math.min((-Math.log(1 - Math.random()) * 1000) / perSecond, 4000 / perSecond));
}
next();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
