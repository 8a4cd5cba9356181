/** Access log lines like those of real sites: few sites with most of the traffic, long-tailed URLs and visitors, browsers' user agents. */
import { accessLogColumns } from '#contract/edge/log.ts';

let state = 42;
/** The same numbers in every run. */
const random = () => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return state / 2 ** 32;
};
const below = (n: number) => Math.floor(random() * n);
/** Small numbers most often. */
const tailed = (n: number) => Math.floor(n ** random()) - 1;
const pick = <T>(of: readonly T[]) => of[below(of.length)]!;

const agents = Array.from(
  { length: 300 },
  (_, i) =>
    `Mozilla/5.0 (${pick(['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'Linux; Android 14; Pixel 8'])}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + (i % 40)}.0.${i}.0 Safari/537.36`,
);
const paths = Array.from(
  { length: 20_000 },
  (_, i) =>
    `/${pick(['static', 'img', 'api/v2', 'news', 'p'])}/${i.toString(36)}/${pick(['main.js', 'style.css', 'photo.jpg', 'index.html', 'item'])}`,
);

const siteCount = 200;
const hostOf = (site: number, domain: number) => `www${domain}.customer${site}.example`;

/** The sites whose lines `logLine` writes. */
export const loggedSites = () =>
  Array.from({ length: siteCount }, (_, i) => i + 1).map(id => ({
    id,
    domains: [0, 1, 2, 3].map(n => ({ id: id * 4 + n, host: hostOf(id, id * 4 + n) })),
  }));

/** One line without the mark and the newline; `msec` in epoch seconds. About 300 bytes. */
export function logLine(msec: number, serial: number): string {
  const site = 1 + tailed(siteCount);
  const domain = site * 4 + below(4);
  const hit = random() < 0.85;
  const status = random() < 0.9 ? 200 : pick([206, 301, 304, 403, 404, 499, 502, 929]);
  const values: Record<(typeof accessLogColumns)[number]['name'], string | number> = {
    msec: msec.toFixed(3),
    site_id: site,
    domain_id: domain,
    host: hostOf(site, domain),
    method: random() < 0.93 ? 'GET' : pick(['POST', 'HEAD', 'OPTIONS']),
    uri: paths[tailed(paths.length)]! + (random() < 0.3 ? `?v=${below(1e6)}` : ''),
    proto: random() < 0.7 ? 'HTTP/2.0' : 'HTTP/1.1',
    status,
    bytes: 400 + tailed(200_000),
    ip:
      random() < 0.85 ? `${1 + below(220)}.${below(250)}.${tailed(250)}.7` : `2001:db8:${below(3000).toString(16)}::${below(20)}`,
    cache: hit ? 'HIT' : pick(['MISS', 'EXPIRED', '-']),
    up_bytes: hit ? '-' : 500 + tailed(200_000),
    up_time: hit ? '-' : random().toFixed(3),
    rt: random().toFixed(3),
    referer: random() < 0.4 ? '-' : `https://${hostOf(site, domain)}${paths[tailed(500)]}`,
    ua: agents[tailed(agents.length)]!,
    reason: status === 403 ? `2:${site}` : '-',
    rid: `1700000000-${1000 + (serial % 4)}-${Math.floor(serial / 20)}-${serial}`,
  };
  return accessLogColumns.map(column => values[column.name]).join('\t');
}
