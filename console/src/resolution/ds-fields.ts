/** The fields of a DS record (RFC 4034, 5.3) out of the line of a zone's file: `cdn.example.net. 3600 IN DS 5346 13 2 AB12…`, the digest in one piece or in several. */
export function dsFields(line: string) {
  const words = line.trim().split(/\s+/);
  const [keyTag = '', algorithm = '', digestType = '', ...digest] = words.slice(words.indexOf('DS') + 1);
  return { keyTag, algorithm, digestType, digest: digest.join('') };
}
