/** Bounds and words of resolution: who answers for names, and what it answers. */

/** Who answers for the names of an operator; `knot`: the name server that comes with this installation. The others are the operator's own. */
export const dnsTypes = ['knot', 'rfc2136', 'powerdns', 'cloudflare', 'dnspod', 'route53', 'aliyun'] as const;
/** What a setting of each kind has of its own; the other fields are empty. */
export const dnsSettingFields: Readonly<
  Record<(typeof dnsTypes)[number], readonly ('server' | 'keyName' | 'algorithm' | 'credentials')[]>
> = {
  knot: [],
  rfc2136: ['server', 'keyName', 'algorithm', 'credentials'],
  powerdns: ['server', 'credentials'],
  cloudflare: ['credentials'],
  dnspod: ['keyName', 'credentials'],
  route53: ['keyName', 'credentials'],
  aliyun: ['keyName', 'credentials'],
};
/** What not every name server can do: other answers on lines. */
export const dnsAbilitiesOf: Readonly<Record<(typeof dnsTypes)[number], readonly 'lines'[]>> = {
  knot: ['lines'],
  rfc2136: [],
  powerdns: [],
  // DNSPod's and Alibaba Cloud's own lines are internet providers and regions, not networks: ours are not among them
  cloudflare: [],
  dnspod: [],
  route53: [],
  aliyun: [],
};
/** Seconds that resolvers keep an answer at the least: of accounts that pay nothing. A node that fails is asked for as long. */
export const dnsMinTTLOf: Readonly<Record<(typeof dnsTypes)[number], number>> = {
  knot: 1,
  rfc2136: 1,
  powerdns: 1,
  cloudflare: 60,
  dnspod: 600,
  route53: 1,
  aliyun: 600,
};
export const resolutionLimits = {
  /** of an operator */
  dnsSettingsMax: 20,
  cnamesMax: 50,
  secondariesMax: 8,
  /** of one group's own */
  groupLinesMax: 100,
  /** that stand on one line: more of their IPv4 addresses do not fit into one datagram */
  lineNodesMax: 50,
  /** addresses of one family that a line answers with: what one datagram of 1,232 bytes holds beside the longest name and a visitor's network */
  addressesMax: { 4: 50, 6: 28 },
  /** seconds that a node has to be well before it comes back into answers, twice as long each time it falls again within ten minutes */
  steadySeconds: 5,
  steadySecondsMax: 300,
  flapMinutes: 10,
  /** days that changes of answers are kept */
  changesDays: 90,
  /** minutes between two looks at where a domain leads: of one that leads here, and of others */
  checkMinutes: { active: 60, other: 10 },
} as const;

/**
 * Why nobody could say where a domain leads: the resolvers did not answer, they answered that they cannot find out (a zone above that is
 * broken, an answer that is not signed as it should be), or so many were asked about that there was no time left for this one.
 */
export const unseenReasons = ['noAnswer', 'failed', 'tooLate'] as const;

/** Why somebody is in an answer or left it. */
export const answerReasons = [
  'assigned',
  'removed',
  'well',
  'silent',
  'paused',
  'problem',
  'cutOff',
  'unknown',
  'mainsAway',
  'mainsBack',
  'lastOne',
  'addresses',
  'lineToAll',
  'lineFor',
] as const;
/** `moved`: its addresses are others; `line`: the line is for other networks, ASNs or places, and nobody in particular. */
export const answerChanges = ['came', 'left', 'moved', 'line'] as const;

/** What a virtual node is made of: nothing yet, addresses of nodes, or one name elsewhere. */
export const virtualNodeKinds = ['empty', 'node', 'cname'] as const;
export const recordTypes = ['A', 'AAAA', 'CNAME'] as const;

/** Data of where addresses are (MMDB). What an owner uploads is anybody's work: so much of it is read, for so long. */
export const geoLimits = {
  /** of a file */
  bytesMax: 100_000_000,
  networksMax: 8_000_000,
  recordsMax: 3_000_000,
  /** of the tree that is made: a small file may say more than it is long, and every server process holds what is made of it */
  writtenMax: 16_000_000,
  /** different places, and different ASNs */
  valuesMax: 500_000,
  /** of the two together, in what is made of all */
  pairsMax: 2_000_000,
  buildSeconds: 180,
  /** MB of JavaScript's own memory for the one that builds */
  buildMemoryMB: 2048,
} as const;
/** What data say of addresses: where they are, and whose. */
export const geoLayers = ['where', 'whose'] as const;
/** How often an owner's source of data of places is asked by itself. */
export const geoRhythms = ['off', 'day', 'week'] as const;
export const geoSourceLimits = {
  /** everything together: a hundred megabytes over a slow line */
  fetchSeconds: 600,
  redirectsMax: 5,
  /** one that failed is asked again after so long, if it is asked by itself */
  retryHours: 6,
} as const;
export const geoStates = ['none', 'building', 'ready'] as const;
/** Why a visitor is on a line; the first that there is counts. */
export const lineMatches = ['network', 'asn', 'region', 'country', 'continent', 'default'] as const;
/** Which lines of a group count where it is asked: all, those by network alone, or none, as there is no room for them or no name server that can. */
export const lineExtents = ['all', 'networks', 'noRoom', 'none'] as const;
/** Of one group: places that its lines by ASN stand in, as a name server is told of each. */
export const lineKeysMax = 20_000;
/**
 * Rules that the embedded name server has of lines: a network, a place, or an ASN in one of the places where it is, each counted in every
 * CNAME zone. Everybody's changes wait while it reads them, and they are in its memory. Of an operator, in all its zones together; and of
 * the installation, shared evenly where more is wished for.
 */
export const operatorLineRulesMax = 100_000;
export const lineRulesMax = 400_000;
