/**
 * Every bus subject, spelled once. Ids are positive integers, so no user text ever enters a subject.
 *
 * Each node lives in an account of its own, where it calls things by the short names of `own`: the bus turns them into the names
 * below, with the node's id, when it takes them over to the control plane's account. So a node never says who it is.
 */

import type { DocumentKind } from './kinds/index.ts';

export type { DocumentKind };

export const streams = { config: 'CFG', logs: 'LOGS', up: 'UP' } as const;

/** What nodes say beside their logs; each ends in the stream UP, where the newest of a node replaces the one before. */
export const words = ['beat', 'ack', 'sync', 'ans'] as const;
export type Word = (typeof words)[number];

export const subjects = {
  /** One edge document: the last message of each subject is the wished state; an empty body says it is gone. */
  config: (zoneID: number, kind: DocumentKind, id: number) => `cfg.${zoneID}.${kind}.${id}`,
  configAll: 'cfg.>',
  /** The copy of `cfg.<zone>.…` that CFG sends out when it has stored it. */
  liveAll: 'live.>',
  liveOfZone: (zoneID: number) => `live.${zoneID}.>`,
  /** How far the zone is, every two seconds: a node that is not there missed something. */
  tick: (zoneID: number) => `live.${zoneID}.tick`,
  said: (word: Word, nodeID: number) => `${word}.${nodeID}`,
  /** Answer to a node's `sync`. */
  delivery: (nodeID: number) => `dlv.${nodeID}.sync`,
  deliveriesOf: (nodeID: number) => `dlv.${nodeID}.>`,
  command: (nodeID: number, verb: string) => `cmd.${nodeID}.${verb}`,
  commandsOf: (nodeID: number) => `cmd.${nodeID}.>`,
  log: (nodeID: number, stream: string) => `log.${nodeID}.${stream}`,
  logsOf: (nodeID: number) => `log.${nodeID}.>`,
  logAll: 'log.*.access',
  mark: (nodeID: number) => `mark.${nodeID}`,
} as const;

/** A node's own names for what it says and hears. */
export const own = {
  log: 'log',
  documents: 'doc.>',
  /** `doc.domain.31`: the copy of `cfg.<its zone>.domain.31` */
  document: 'doc.',
  tick: 'doc.tick',
  commands: 'cmd.>',
  command: (verb: string) => `cmd.${verb}`,
  mark: 'mark',
  deliveries: 'dlv.>',
  delivery: 'dlv.sync',
  inboxes: '_INBOX.>',
} as const;

/**
 * `cfg.7.domain.31` → `{zoneID: 7, kind: 'domain', id: 31}`, or null for anything else. The kind may be one that only servers or nodes of
 * another release know: `isKind` tells.
 */
export function parseConfigSubject(subject: string) {
  const m = /^cfg\.(\d{1,15})\.([A-Za-z]{1,40})\.(\d{1,15})$/.exec(subject);
  return m && { zoneID: Number(m[1]), kind: m[2]!, id: Number(m[3]) };
}

/** `beat.5` → `{word: 'beat', nodeID: 5}` */
export function parseSaid(subject: string) {
  const m = /^(beat|ack|sync|ans)\.(\d{1,15})$/.exec(subject);
  return m && { word: m[1] as Word, nodeID: Number(m[2]) };
}
