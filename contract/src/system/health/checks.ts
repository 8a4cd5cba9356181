/** Every check with what may be wrong with it. */
export const checks = {
  database: ['away', 'slow', 'noWrites'],
  bus: ['away', 'slow'],
  streams: ['missing', 'nearlyFull', 'small'],
  relay: ['idle', 'late'],
  store: ['away', 'slow', 'noWrites'],
  ingest: ['away', 'stuck', 'late'],
  disk: ['low', 'full', 'fewFiles', 'noFiles', 'unknown'],
  process: ['away', 'busy'],
  nodes: ['offline', 'notOnBus', 'older', 'unserved', 'problem', 'refused'],
  nginx: ['away', 'hung'],
  configuration: ['late', 'notTaken', 'damaged'],
  shipping: ['stuck', 'waiting', 'lost', 'cut', 'unread'],
  unlogged: ['counted'],
  setAside: ['counted'],
  unrepeated: ['counted'],
  foreignWrites: ['counted'],
  sites: ['changesLate', 'figuresLate'],
  upkeep: ['failing', 'late'],
  origins: ['refused'],
  documents: ['notMade'],
} as const;
export type CheckID = keyof typeof checks;
export type Reason = { [C in CheckID]: `${C}.${(typeof checks)[C][number]}` }[CheckID];
export const checkIDs = Object.keys(checks) as CheckID[];
export const reasons = checkIDs.flatMap(id => checks[id].map(why => `${id}.${why}` as Reason));
