import { createHash } from 'node:crypto';
import { hostMax, purgesBytesMax, purgesPerSite, uriMax } from '#contract/edge/kinds/purges.ts';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { arrayOf, headOf, ofSites, type PartSource } from '../source.ts';

/** Purge task types: 1 URL, 2 prefix, 3 host on the wire (decisions, "Units"), and 0: everything of the site. */
export interface PurgeRow {
  id: number;
  type: 0 | 1 | 2 | 3;
  /** what the customer typed: with or without a scheme */
  url: string;
  generation: number;
}
export interface PurgesRow {
  cacheGeneration: number;
  purges: PurgeRow[];
  /** generation of the newest purge that is not in `purges`, because there are too many; 0: all are there */
  before: number;
}

/** A longer URI is told by its hash. */
const uriBytesMax = 64;
const types = { 1: 'exact', 2: 'prefix', 3: 'host' } as const;

// A purge stands for ever: also when its task is no longer listed, what it purged must not come back.
const newer = `from "purgeTask" x where x."siteID" = s.id and x.kind = 'clear' and x.generation > s."cacheGeneration"`;

export const purges: PartSource<'purges', PurgesRow> = {
  text: ofSites(`jsonb_build_object('cacheGeneration', s."cacheGeneration",
    'purges', ${arrayOf(`select x.id, x.type, x.url, x.generation ${newer} order by x.generation desc, x.id desc limit ${purgesPerSite}`)},
    'before', coalesce((select x.generation ${newer} order by x.generation desc, x.id desc offset ${purgesPerSite} limit 1), 0))`),
  present: `exists (select ${newer})`,
  compile: loaded => ({ ...headOf(loaded), ...compilePurges(loaded.row) }),
};

/**
 * Newest first, one per target. Those older than the site's own generation say nothing any more. Beyond what a document holds the
 * generation rises to the newest one left out: more is purged than asked for, never less. 0: the site's own is enough.
 */
function compilePurges({ cacheGeneration, purges: rows, before }: PurgesRow): Pick<DocumentOf<'purges'>, 'gen' | 'purges'> {
  const whole = rows.filter(row => row.type === 0).map(row => row.generation);
  const base = Math.max(cacheGeneration, before, ...whole);
  const targets = new Map<string, DocumentOf<'purges'>['purges'][number]>();
  for (const row of [...rows].sort((a, b) => b.generation - a.generation || b.id - a.id)) {
    if (row.type === 0 || row.generation <= base) continue;
    const { host, uri } = splitURL(row.url);
    // No request can name it: it purges nothing, and must not keep the others from being made.
    if (host.length > hostMax || Buffer.byteLength(uri) > uriMax) continue;
    const type = types[row.type];
    const purge = { type, host, ...(type === 'host' ? { uri: '' } : shortened(uri)), gen: row.generation };
    const key = JSON.stringify([purge.type, purge.host, purge.uri, 'length' in purge]);
    if (!targets.has(key)) targets.set(key, purge);
  }
  const all = [...targets.values()];
  let bytes = 0;
  const full = all.findIndex(
    (purge, index) => (bytes += Buffer.byteLength(JSON.stringify(purge)) + 1) > purgesBytesMax || index >= purgesPerSite,
  );
  const gen = all[full]?.gen ?? base;
  const kept = (full < 0 ? all : all.slice(0, full)).filter(purge => purge.gen > gen);
  return { gen: gen === cacheGeneration && !kept.length ? 0 : gen, purges: kept };
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
