/** Every bus subject, spelled once. Ids are positive integers, so no user text ever enters a subject. */

export type DocumentKind = 'domain' | 'site' | 'zone';

export const streams = { config: 'CFG', logs: 'LOGS' } as const;

export const subjects = {
  /** One edge document: the last message of each subject is the wished state; an empty body says it is gone. */
  config: (zoneID: number, kind: DocumentKind, id: number) => `cfg.${zoneID}.${kind}.${id}`,
  configOfZone: (zoneID: number) => `cfg.${zoneID}.>`,
  configAll: 'cfg.>',
  ack: (nodeID: number) => `ack.${nodeID}`,
  ackAll: 'ack.*',
  beat: (nodeID: number) => `beat.${nodeID}`,
  beatAll: 'beat.*',
  command: (nodeID: number, verb: string) => `cmd.${nodeID}.${verb}`,
  commandsOf: (nodeID: number) => `cmd.${nodeID}.>`,
  log: (nodeID: number, stream: string) => `log.${nodeID}.${stream}`,
  logsOf: (nodeID: number) => `log.${nodeID}.>`,
  logAll: 'log.>',
  mark: (nodeID: number) => `mark.${nodeID}`,
} as const;

/** `cfg.7.domain.31` → `{zoneID: 7, kind: 'domain', id: 31}`, or undefined for anything else. */
export function parseConfigSubject(subject: string) {
  const m = /^cfg\.(\d+)\.(domain|site|zone)\.(\d+)$/.exec(subject);
  return m && { zoneID: Number(m[1]), kind: m[2] as DocumentKind, id: Number(m[3]) };
}
