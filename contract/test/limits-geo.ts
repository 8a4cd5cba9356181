/** Constants of where addresses are, pinned (limits.test.ts). */
export const pinnedGeo: Record<string, unknown> = {
  geoLimits: {
    bytesMax: 100_000_000,
    nodesMax: 40_000_000,
    networksMax: 8_000_000,
    recordsMax: 3_000_000,
    valuesMax: 500_000,
    buildSeconds: 180,
    buildMemoryMB: 2048,
  },
  geoLayers: ['where', 'whose'],
  lineMatches: ['network', 'asn', 'region', 'country', 'continent', 'default'],
  lineKeysMax: 20_000,
  geoStates: ['none', 'building', 'ready'],
};
