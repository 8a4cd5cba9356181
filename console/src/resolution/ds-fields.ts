/** The fields of a DS record (RFC 4034, 5.3) out of the line of a zone's file: `cdn.example.net. 3600 IN DS 5346 13 2 AB12…`, the digest in one piece or in several. */
export function dsFields(line: string) {
  const words = line.trim().split(/\s+/);
  const [keyTag = '', algorithm = '', digestType = '', ...digest] = words.slice(words.indexOf('DS') + 1);
  return { keyTag, algorithm, digestType, digest: digest.join('') };
}

/** What is to go from the zone above before a zone is removed: what it was seen to have, or all that it may have where nobody has said. */
export const dsToTakeOut = (zone: { ds: string[]; dsBefore: string[]; dsAbove: string[]; dsSeenAt: string | null }): string[] =>
  zone.dsSeenAt === null ? [...zone.ds, ...zone.dsBefore, ...zone.dsAbove] : zone.dsAbove;
