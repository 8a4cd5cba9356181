/** A line of the access log as the store is given it, for tests that need traffic of another time. */
import { accessLogColumns } from '#contract/edge/log.ts';

/** A request answered with so many bytes at an instant (epoch ms). */
export function accessRow(
  at: number,
  siteID: number,
  bytes: number,
  host = 'a.test',
  { node = 1, ...more }: { node?: number } & Record<string, string | number> = {},
): string {
  const usual: Record<string, string | number> = {
    msec: (at / 1000).toFixed(3),
    site_id: siteID,
    domain_id: siteID,
    host,
    status: 200,
    bytes,
    ...more,
  };
  return `${node}\t0\t${at / 1000 + 1}\t${accessLogColumns.map(c => usual[c.name] ?? '-').join('\t')}\n`;
}
