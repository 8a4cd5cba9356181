/** What a handler reaches beyond PostgreSQL. Made once per process by main.ts. */
import type { Bundle } from '#contract/node/bundle.ts';
import type { geoLayers } from '#contract/limits.ts';
import type { Database } from '../store/db.ts';
import type { Analytics } from '../store/analytics/client.ts';
import type { Health } from './health.ts';
import type { Licences } from './licence.ts';
import type { Notices } from './notices.ts';
import type { Sealing } from './sealed.ts';
import type { Sessions } from './session.ts';
import type { Unfit } from './judged.ts';

export interface Services {
  database: Database;
  sessions: Sessions;
  notices: Notices;
  /** keys of the columns that are encrypted at rest */
  sealing: Sealing;
  /** what operators' licences let them do */
  licences: Licences;
  /** the analytics store; left out where there is none */
  analytics?: Analytics;
  nodes?: NodeGate;
  /** what this process and its peers find */
  health?: Health;
  /** rows that an earlier release let in, as this process has found them */
  storedRules?: { ofSite(siteID: number): readonly Unfit[] };
  /** an authority of one's own, at which certificates are ordered: its directory, and who signs that one's own certificate (PEM) */
  acme?: { directory: string; ca: string | undefined };
  /** public authorities at other addresses than their own, and who vouches for these */
  acmeAt?: { letsEncrypt?: string; zeroSSL?: string; ca: string | undefined };
  /** whom mail servers are believed instead of the machine's authorities (PEM) */
  mail?: { ca: string | undefined; timeoutMs?: number };
  /** how a site's DNS accounts are reached; left out: as they usually are */
  dns?: { resolvers: readonly string[]; apis: Readonly<Record<string, string>> };
  /** the embedded name server: its port, the key of updates, where it reads lines, its control, and where the world reaches it */
  knot?:
    | {
        port: number;
        key: { name: string; algorithm: 'hmacSHA256'; secret: Buffer };
        lines: string;
        socket: string;
        addresses: readonly string[];
      }
    | undefined;
  /** where addresses are; left out: nobody knows */
  geo?: GeoStore;
  /** where Telegram's Bot API is; left out: at its own address */
  telegramAPI?: string | undefined;
  /** address people reach the console at */
  publicURL: string;
  /** the version nodes are given; left out: there is no bus */
  offer?: NodeOffer;
  /** how a machine elsewhere comes to us; left out: it cannot */
  told?: { url: string; ca: string | undefined; pin: string | undefined };
}

/** Data of where addresses are (resolution/geo). */
export interface GeoStore {
  readonly state: GeoState;
  /** undefined: there are none yet */
  places(): Promise<GeoPlaces | undefined>;
  /** Nobody else's file is taken, and none is dropped, until it is left: one is in memory, and one is being made, at a time. */
  hold(): GeoHold;
}
export interface GeoHold {
  /** An MMDB of the owner's, in place of what says the same. */
  take(bytes: Uint8Array): Promise<GeoTaken>;
  /** Without any of the owner's. */
  drop(): Promise<GeoTaken>;
  leave(): void;
}
export interface GeoState {
  isBuilding: boolean;
  current: { builtAt: number; networks: number; sources: GeoSource[]; own: GeoOwn[] } | undefined;
  problem: string | null;
}
/** A file of the owner, and what of it counts. */
export interface GeoOwn {
  file: string;
  layers: GeoSource['layer'][];
}
export interface GeoSource {
  layer: (typeof geoLayers)[number];
  /** whose work it is */
  name: string;
  version: string;
  /** milliseconds since 1970; 0: nobody says */
  dataAt: number;
  licence: string;
  /** who has to be named beside what comes of it, each with an address */
  credits: { name: string; url: string }[];
  /** uploaded by the owner */
  isOwn: boolean;
}
/** It was read, and everything made of it; it does not count yet. */
export interface GeoTaken {
  /** what there will be; left out where nothing changes */
  sources?: readonly GeoSource[];
  networks?: number;
  /** files of the owner that there will be; left out where nothing changes */
  own?: readonly GeoOwn[];
  /**
   * Whether it may count now; from then on it is about to. `counted`: the owner's files that do by what is committed, read while nobody else
   * is about to. @throws GeoFileRefused: something else came meanwhile
   */
  check(counted: readonly GeoOwn[]): void;
  /** From now on it counts, in every process. @throws GeoFileRefused; after anything else it is tried again */
  count(): void;
  forget(): void;
}
export interface GeoPlaces {
  /** of the data: another one, other data */
  readonly name: string;
  /** the file that says it, as MaxMind's do */
  readonly path: string;
  of(address: string): Place | undefined;
  readonly index: GeoIndex;
}
/** What the data know, by their own numbers. */
export interface GeoIndex {
  where: [continent: string, country: string, region: string, regionName: string][];
  whose: [asn: number, organisation: string][];
  /** each pair that stands somewhere, and the first address where it does */
  pairs: [where: number, whose: number, first: string][];
}
/** What is known of an address; null: nobody knows. */
export interface Place {
  continent: string | null;
  /** ISO 3166-1 alpha-2 */
  country: string | null;
  /** ISO 3166-2, without the country; its name in English */
  region: string | null;
  regionName: string | null;
  asn: number | null;
  organisation: string | null;
}

export interface JoinBody {
  token: string;
  name: string;
  /** the node's user nkey (`U…`) */
  publicKey: string;
  addresses: string[];
  version: string;
  /** for its zone's key (host/sealed.ts); nodes of earlier releases have none */
  boxKey?: string | undefined;
  /** base64url of a public key of P-256 (DER, SPKI): for the certificate by which nodes of its zone know it */
  memberKey?: string | undefined;
  /** milliseconds since 1970 by its own clock; nodes of earlier releases say nothing */
  time?: number | undefined;
  /** which boot of which machine it is; nodes of earlier releases say nothing */
  boot?: string | undefined;
  /** base64 of the nkey's signature over `joinText`: that a machine which is a node already is that one */
  signature?: string | undefined;
}
export interface RenewBody {
  nodeID: number;
  /** milliseconds since 1970 */
  time: number;
  /** base64 of the nkey's signature over `renewalText` */
  signature: string;
  boxKey?: string | undefined;
  memberKey?: string | undefined;
  /** where it is now; nodes of earlier releases said it once, when they joined */
  addresses?: string[] | undefined;
  /** as when it joins */
  boot?: string | undefined;
}
/** What nodes are given (bus/offer.ts). */
export interface NodeOffer {
  /** undefined: nothing was packed yet */
  bundle(): Bundle | undefined;
  /** tells it apart from what other machines of the control plane have (node/offers.ts) */
  readonly hash: string | undefined;
  /** the same, where its archives are there too */
  held(): { version: string; hash: string } | undefined;
  /** what a node is told, so that it becomes this version */
  command(nodeID: number): { version: string; body: { manifest: string; signature: string; path: string } } | undefined;
}
export type Enter = <T>(act: () => Promise<T>) => Promise<T>;
/** Joining of nodes; made by server/src/bus. */
export interface NodeGate {
  /** `enter`: does what asks the database when there is room; that the bus knows the node is waited for outside */
  join(body: JoinBody, enter: Enter): Promise<NodeGrant>;
  renew(body: RenewBody, enter: Enter): Promise<NodeGrant>;
  /** whether the token is open, or this key joined with it a moment ago; costs next to nothing, however often it is asked */
  isExpected(body: JoinBody): Promise<boolean>;
  /** whether a node of ours signed this; the same */
  isOurs(body: RenewBody, ip: string): Promise<boolean>;
  /** tells a node to fetch its credentials again: its zone changed, or it is no longer one of ours */
  notify(nodeID: number): Promise<void>;
  /** Whether the bus is there, by which nodes are told anything; left out: another process knows. */
  reaches?(): boolean;
}
export interface NodeGrant {
  nodeID: number;
  zoneID: number | null;
  jwt: string;
  natsUrl: string;
  documentKey: string;
  tls: { ca: string; servername?: string | undefined } | null;
  zoneKey: string | null;
  type: 'edge' | 'relay';
  member: { certificate: string; authority: string } | null;
}
