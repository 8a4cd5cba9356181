/** Every check with what may be wrong with it. */
export const checks = {
  database: ['away', 'slow', 'noWrites', 'deaf'],
  bus: ['away', 'slow'],
  streams: ['missing', 'nearlyFull', 'small'],
  relay: ['idle', 'late'],
  store: ['away', 'slow', 'noWrites'],
  ingest: ['away', 'stuck', 'late'],
  disk: ['low', 'full', 'fewFiles', 'noFiles', 'unknown'],
  process: ['away', 'busy'],
  nodes: ['offline', 'notOnBus', 'pausedSilent', 'older', 'apart', 'unserved', 'problem', 'refused', 'clock', 'relayPassed'],
  nginx: ['away', 'hung'],
  configuration: [
    'late',
    'notTaken',
    'damaged',
    'unreadRules',
    'certificatesWithoutRoom',
    'portsTaken',
    'noHTTP3',
    'addressesAway',
    'noGeneva',
    'notBound',
    'logsMore',
    'logsTimeOver',
    'logsDiskShort',
    'logsFlood',
  ],
  shipping: ['stuck', 'waiting', 'lost', 'cut', 'unread'],
  unlogged: ['counted'],
  setAside: ['counted'],
  unrepeated: ['counted'],
  foreignWrites: ['counted'],
  sites: ['changesLate', 'figuresLate'],
  upkeep: ['failing', 'late'],
  tasks: ['late'],
  origins: ['refused'],
  documents: ['notMade'],
  rules: ['outdated'],
  certificates: ['ending'],
  names: ['away', 'idle', 'late', 'refused', 'unread'],
  signedZones: ['otherKey', 'otherAbove'],
  geoSource: ['failing'],
} as const;
/** What a node says of itself; of anything else it knows nothing. */
export const nodeCheckIDs: readonly CheckID[] = [
  'nginx',
  'configuration',
  'shipping',
  'unlogged',
  'unrepeated',
  'foreignWrites',
  'disk',
];
export type CheckID = keyof typeof checks;
export type Reason = { [C in CheckID]: `${C}.${(typeof checks)[C][number]}` }[CheckID];
export const checkIDs = Object.keys(checks) as CheckID[];
export const reasons = checkIDs.flatMap(id => checks[id].map(why => `${id}.${why}` as Reason));
