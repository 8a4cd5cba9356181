/** Those of limits.ts about certificates, and about how names are proven to who issues them. */

/** §3 Certificate: how it came about. */
export const certificateTypes = ['manual', 'autoSSL', 'dns'] as const;
/** Authorities that issue certificates by themselves; `private`: the one the environment names. */
export const acmeProviders = ['letsEncrypt', 'zeroSSL', 'private'] as const;
export const acmeLimits = {
  /** orders of one account that wait for the authority at once: it forgets nonces where there are more */
  ordersAtOnce: 20,
  /** seconds that nodes may take before the authority is asked to look */
  spreadSeconds: 30,
  /** looks, about a second apart, before an authority that says nothing counts as silent */
  looks: 120,
  /** answers in a row that say nothing of an order, ever further apart, before it is given up: half an hour */
  troubles: 30,
  /** looks, a second apart and later five, before a record counts as one that its name servers never show: six minutes */
  seenLooks: 100,
  /** questions to a DNS provider that is down, or wants to be left alone, before it counts as failed for now */
  dnsTries: 6,
  /** minutes before another try, by tries in a row that failed */
  retryMinutes: [1, 5, 15, 60, 180, 360, 720, 1440],
  /** of its life, before a certificate is renewed */
  renewAfter: 2 / 3,
  /** of its life, that is left at least when an authority has us renew later than that */
  renewLeast: 1 / 10,
  /** hours after it was issued, or a tenth of its life where that is less, before an authority can have it renewed */
  renewRestHours: 24,
  /** seconds, at least and at most, between two questions when to renew; and where it does not say */
  askSeconds: { min: 3600, max: 86_400, usual: 21_600 },
  /** minutes between two certificates of one name, whatever is switched, deleted or added meanwhile; the operator may ask for one at once */
  issuedMinutes: 60,
  /** minutes after a try that failed, before somebody may have the task tried again for that name */
  triedMinutes: 15,
  /** seconds at least that a limit of an authority holds, twice as long each further time */
  limitSeconds: 60,
  /** tries of an operator's credentials at an authority before each next one waits */
  testsFree: 10,
  /** names of one task */
  namesPerTask: 100,
} as const;
/** How a name is proven to an authority: by an answer over HTTP from its nodes, or by a record in its zone. */
export const acmeWays = ['http', 'dns'] as const;
/** Whoever holds a customer's names, and lets us put a record there (site DNS). */
export const dnsProviders = ['rfc2136', 'cloudflare', 'dnspod', 'route53', 'aliyun'] as const;
/** Which fields of an account count, by its provider; the others are empty. */
export const dnsAccountFields: Readonly<Record<(typeof dnsProviders)[number], readonly ('server' | 'keyName' | 'algorithm')[]>> =
  {
    rfc2136: ['server', 'keyName', 'algorithm'],
    cloudflare: [],
    dnspod: ['keyName'],
    route53: ['keyName'],
    aliyun: ['keyName'],
  };
/** Of keys that sign updates (RFC 8945); SHA-1 is what old name servers have. */
export const tsigAlgorithms = ['hmacSHA256', 'hmacSHA384', 'hmacSHA512', 'hmacSHA1'] as const;
/** DNS accounts of a site. */
export const siteDNSMax = 20;
export const keyTypes = ['ec', 'rsa'] as const;
export const certificateLimits = {
  perSite: 1000,
  /** bytes of all of a site's as they are stored: some 400 of elliptic curves. A node of 1 GB has 32 MB for everybody's. */
  bytesPerSite: 2_000_000,
  /** characters of PEM: a chain with 500 names */
  pemMax: 65_536,
  /** characters of PEM: RSA of 8,192 bits has 6,400, which is refused with the reason */
  keyPemMax: 10_000,
  /** certificates in one text */
  chainMax: 10,
  namesMax: 500,
  rsaBitsMin: 2048,
  /** a handshake with 4,096 bits takes a node 6 ms, with 8,192 it takes 42 */
  rsaBitsMax: 4096,
  /** days before its end from which on it is warned of */
  warnDays: 14,
} as const;
