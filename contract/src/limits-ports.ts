/** Ports that visitors come to, and what is spoken there. */
export const schemes = ['http', 'https'] as const;

/** §5 "Layer-4 forwarding ports …"; udp is our extension (decisions). */
export const layer4Ports = {
  portMin: 1000,
  portMax: 65_000,
  portsExcluded: [
    [3306, 3306],
    [3311, 3311],
    [6379, 6379],
    [9100, 9100],
    [61_000, 61_199],
  ],
  protocols: ['tcp', 'udp'],
} as const;

/** What may be spoken at a port of a site: layer 7, and layer 4. */
export const portSchemes = [...schemes, ...layer4Ports.protocols] as const;
export const portLimits = {
  /** each is a document of its own */
  perSiteMax: 100,
  /** each is a socket of every node, on each of its addresses */
  perZoneMax: 100,
  /** addresses, blocks and ranges of visitors */
  ipsMax: 200,
} as const;

/** Decisions "Wire": what a product, node or licence opens. */
export const portTypes = ['7', '7+4'] as const;
