/** Small MMDBs for tests, and broken ones. */
import { parseAddressSet } from '#contract/rules/address.ts';
import type { Value } from '#server/resolution/geo/mmdb.ts';
import type { Cuts } from '#server/resolution/geo/cuts.ts';
import { mmdbOf } from '#server/resolution/geo/mmdb-writer.ts';

export const cityOf = (continent: string, country: string, region?: string, name = region): Value => ({
  continent: { code: continent },
  country: { iso_code: country },
  ...(region && { subdivisions: [{ iso_code: region, names: { en: name! } }] }),
});
export const asnOf = (asn: number, organisation: string): Value => ({
  autonomous_system_number: asn,
  autonomous_system_organization: organisation,
});

/** Of networks, in their order, IPv4 first; of all others `rest` is said. */
export function mmdb(
  networks: Readonly<Record<string, Value>>,
  rest: Value = {},
  type = 'Test',
  builtAt = Date.UTC(2026, 0, 2),
): Buffer {
  const values: Value[] = [rest];
  const cuts: Record<4 | 6, { starts: bigint[]; values: number[] }> = {
    4: { starts: [0n], values: [0] },
    6: { starts: [0n], values: [0] },
  };
  for (const [cidr, value] of Object.entries(networks)) {
    const { family, from, to } = parseAddressSet(cidr)!;
    const { starts, values: said } = cuts[family];
    const number = values.push(value) - 1;
    if (starts.at(-1) === from) {
      starts.pop();
      said.pop();
    }
    starts.push(from, to + 1n);
    said.push(number, 0);
  }
  return mmdbOf({ v4: cuts[4] satisfies Cuts, v6: cuts[6] satisfies Cuts, values, type, builtAt });
}

/** Its tree and its data as they are given, with metadata that say so. */
export function madeUp({
  tree,
  data,
  nodes,
  recordSize = 24,
  version = 6,
}: {
  tree: Buffer;
  data: Buffer;
  nodes: number;
  recordSize?: number;
  version?: number;
}): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)]);
  const number = (value: number) => Buffer.from([0xc4, ...Buffer.from(value.toString(16).padStart(8, '0'), 'hex')]);
  const fields: [string, Buffer][] = [
    ['node_count', number(nodes)],
    ['record_size', number(recordSize)],
    ['ip_version', number(version)],
    ['binary_format_major_version', number(2)],
    ['database_type', text('Made-Up')],
  ];
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    data,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    Buffer.from([0xe0 | fields.length]),
    ...fields.flatMap(([name, value]) => [text(name), value]),
  ]);
}
