import { createHash } from 'node:crypto';
import { purgesPerSite, type SiteDocument } from '#contract/edge/document.ts';
import type { ListRow, SiteRows } from './rows.ts';

/** How much purges may weigh together: 500 of one call always fit, and they do not crowd out the rules. */
export const purgeBytesMax = 200_000;
/** A longer URI is told by its hash. */
const uriBytesMax = 64;

const purgeTypes = { 1: 'exact', 2: 'prefix', 3: 'host' } as const;

/** One site → its document. Pure. Switched-off items are left out, so that a node never has to ask. */
export function compileSite(rows: SiteRows): SiteDocument {
  const { site } = rows;
  const { gen, purges } = compilePurges(rows);
  return {
    v: 1,
    rev: site.revision,
    id: site.id,
    state: site.status,
    expires: site.expired === null ? 0 : Math.max(1, Math.floor(new Date(site.expired).getTime() / 1000)),
    gen,
    purges,
    cacheRules: on(rows.cacheRules)
      .sort((a, b) => a.priority - b.priority || a.id - b.id)
      .map(row => ({ type: row.type, value: row.value, mode: row.mode, ttl: row.duration * 60 })),
    whitelists: on(rows.whitelists).map(row => ({ id: row.id, ips: row.ips, urls: row.urls })),
    blacklists: on(rows.blacklists).map(row => ({ id: row.id, ips: row.ips, block: row.blockType })),
    userAgents: on(rows.userAgents).map(row => ({
      id: row.id,
      urlRegex: row.urlRegex,
      userAgentRegex: row.userAgentRegex,
      block: row.blockType,
    })),
  };
}

/** The enabled rows in the order they were made. */
function on<T extends ListRow>(rows: T[]): T[] {
  return rows.filter(row => row.enabled).sort((a, b) => a.id - b.id);
}

/**
 * Purges newest first, one per target. Those older than the site's own generation say nothing any more. Beyond
 * `purgesPerSite` the generation rises to the newest one left out: more is purged than asked for, never less.
 */
function compilePurges({ site, purges, purgesBefore }: SiteRows) {
  const whole = purges.filter(row => row.type === 0).map(row => row.generation);
  const base = Math.max(site.cacheGeneration, purgesBefore, ...whole);
  const targets = new Map<string, SiteDocument['purges'][number]>();
  for (const row of [...purges].sort((a, b) => b.generation - a.generation || b.id - a.id)) {
    if (row.type === 0 || row.generation <= base) continue;
    const { host, uri } = splitURL(row.url);
    const type = purgeTypes[row.type];
    const purge = { type, host, ...(type === 'host' ? { uri: '' } : shortened(uri)), gen: row.generation };
    const key = JSON.stringify([purge.type, purge.host, purge.uri, 'length' in purge]);
    if (!targets.has(key)) targets.set(key, purge);
  }
  const all = [...targets.values()];
  let bytes = 0;
  const full = all.findIndex(
    (purge, index) => (bytes += purge.host.length + purge.uri.length + 60) > purgeBytesMax || index >= purgesPerSite,
  );
  const gen = all[full]?.gen ?? base;
  return { gen, purges: (full < 0 ? all : all.slice(0, full)).filter(purge => purge.gen > gen) };
}

function shortened(uri: string): { uri: string; length?: number } {
  const bytes = Buffer.from(uri);
  return bytes.length > uriBytesMax ? { uri: createHash('md5').update(bytes).digest('hex'), length: bytes.length } : { uri };
}

/**
 * `https://Host:8443/a?b` → host `host`, uri `/a?b`. The scheme and the port are no part of a cache key, so one purge
 * covers http and https. Percent-encoding stays as typed: nginx's $request_uri is raw too.
 */
function splitURL(url: string) {
  const m = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?(\[[^\]]*\]|[^/?#:]*)(?::\d*)?([^#]*)/i.exec(url.trim())!;
  const path = m[2]!;
  return { host: m[1]!.toLowerCase(), uri: path.startsWith('/') ? path : `/${path}` };
}
