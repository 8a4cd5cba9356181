/** Nodes: joining, zones, heartbeat (§3 Zones … nodes; decisions.md, The parts). */
import { calls } from '../kit/call.ts';
import { arr, big, bool, id, ids, int, list, nullable, obj, one, opt, page, record, str, text, time } from '../kit/schema.ts';
import { confidential } from '../kit/secret.ts';
import * as rules from '../rules.ts';
import { nodeStates, upgradeStates } from '../states.ts';
import { nodeStatuses, Place } from './place.ts';
import { nodeBounds, nodeTypes, portTypes } from '../limits.ts';
import { Geneva, logRotateTime } from './node-settings.ts';
import { meta } from './zones.ts';

const nodeName = () => str(64).check(rules.zodRule(rules.freeName));

export { nodeStatuses };

/** Why a node is in its state, where that is not normal. */
export const statusReasons = [
  /** it joined, or was resumed, and has said nothing since */
  'noWord',
  'silent',
  /** it reaches the server, and not the bus */
  'reconnecting',
  /** its own words */
  'problem',
  /** it does not serve what was published */
  'behind',
  'clock',
  /** another machine speaks in its name, too: a disk was copied */
  'twin',
  'byOperator',
  /** cut off the bus for a while */
  'cutOff',
] as const;

/**
 * Why a line of a node's log counts for nobody: it is not what nginx writes (`form`), its figures cannot be (`number`), it is of the
 * future or too late, the node did not serve then (`node`), not that site or domain, or the store cannot take it. `flood`: of more new files than a node
 * makes. `twin`: a copy of the node took turns with it: their lines have the same places, so some of each are lost.
 */
export const asideReasons = ['form', 'number', 'future', 'late', 'node', 'site', 'domain', 'store', 'flood', 'twin'] as const;
export const asideHours = 24;

export const Node = obj({
  ...record,
  name: text(64),
  zoneID: nullable(id()),
  zoneName: nullable(text(64)),
  type: one(nodeTypes),
  /** one without a zone is `uninitialized`, whatever it says */
  status: one(nodeStates),
  /** since when it is in this state; null: it was never in another */
  statusSince: nullable(time()),
  /** of a paused one that says nothing any more: since its last word; null: it is heard, or is not paused */
  silentSince: nullable(time()),
  statusReason: nullable(obj({ reason: one(statusReasons), detail: text(500) })),
  addresses: arr(text(64), 100),
  /** of its agent; the row's own is `rowVersion` */
  version: text(64),
  rowVersion: int(),
  /** what came of the last upgrade, by the version it runs now */
  upgrade: one(upgradeStates),
  /** false: it runs out of the installation's folder, and is upgraded with that */
  upgradable: bool(),
  memo: text(255),
  /** null: nobody said where it stands */
  place: nullable(Place),
  portType: one(portTypes),
  geneva: Geneva,
  logRotateTime: logRotateTime(),
  /** its addresses are answered whatever the others of its lines do, also while it is paused or a backup */
  forceBackup: bool(),
  /** its addresses are answered only where no main node of the line is well: it is paused, or a backup on every line it stands on (§3) */
  backup: bool(),
  /** bit/s that its interfaces send; null: it does not say */
  bandwidth: nullable(big()),
  subs: arr(obj({ id: id(), UID: text(40), address: text(45), listen: bool() }), nodeBounds.subsMax),
  lastBeat: nullable(time()),
  startedAt: nullable(time()),
  /** Sequence of the configuration stream this node serves. */
  appliedSeq: big(),
  /** Changes published for its zone and not yet acknowledged. */
  behind: int(),
  /** Relays of its zone that this node passes by, as it said last. */
  relaysAway: arr(obj({ id: id(), name: text(64), since: time(), why: text(200) }), 100),
  refused: arr(obj({ subject: text(100), seq: big(), why: text(500) }), 100),
  /** Log lines of the last 24 hours that count for nobody; null: it cannot be told at the moment. */
  aside: nullable(arr(obj({ reason: one(asideReasons), lines: big(), lastAt: time() }), asideReasons.length)),
});
const waiting = { status: opt(one(nodeStatuses)), keyword: opt(str(64)) };
const filters = { zoneID: opt(id()), groupID: opt(id()), ...waiting };

export const nodes = calls(
  { base: '/client', resource: 'nodes' },
  {
    'GET /nodes': { query: list(filters), answer: page(Node) },
    'GET /nodes/initialized': { query: list(filters), answer: page(Node) },
    'GET /nodes/uninitialized': { query: list(waiting), answer: page(Node) },
    'GET /zone/{id}/nodes': { query: list({}), answer: page(Node) },
    'GET /metaNodes': { query: obj({ keyword: opt(str(64)), zoneID: opt(id()) }), answer: meta() },
    'POST /nodes/initialize': { limited: 'nodes', body: obj({ ids: ids(), zoneID: id() }), errors: ['multiple'] },
    'POST /nodes/deinitialize': {
      body: obj({ ids: ids() }),
      errors: ['nodeCommunication', 'nodeInGroup', 'nodeInVirtualNode', 'multiple'],
    },
    'PATCH /node': {
      limited: 'nodes',
      body: obj({ id: id(), name: opt(nodeName()), memo: opt(text(255)), type: opt(one(nodeTypes)), forceBackup: opt(bool()) }),
      errors: ['nodeInGroup', 'nodeInVirtualNode'],
    },
    'PATCH /node/status': {
      body: obj({ ids: ids(), status: one(['normal', 'paused']) }),
      errors: ['nodeCommunication', 'multiple'],
    },
    'DELETE /node': { body: obj({ ids: ids() }), errors: ['nodeInGroup', 'nodeInVirtualNode', 'multiple'] },
    'POST /nodes/joinToken': {
      // a node that joins stays: it would outlive the API token that let it in
      auth: 'session',
      body: obj({ name: opt(nodeName()), zoneID: opt(id()), type: opt(one(nodeTypes)) }),
      answer: obj({ token: text(200), command: text(1000), expiredAt: time() }),
      errors: ['nodesExceeded'],
    },
  },
);

/** How a node checks whom it talks to; null: the bus is on its own machine. */
const BusTls = nullable(obj({ ca: text(20_000), servername: opt(text(253)) }));
const Grant = obj({
  nodeID: id(),
  /** null: joined, and an operator has not put it into a zone yet */
  zoneID: nullable(id()),
  jwt: text(20_000),
  natsUrl: text(500),
  documentKey: text(100),
  tls: BusTls,
  /** of its zone, in the box of `boxKey` (host/sealed.ts); null: no zone, or no box was sent */
  zoneKey: nullable(text(200)),
  type: one(nodeTypes),
  /** by which nodes of its zone know it, PEM; null: no zone, or no key was sent */
  member: nullable(obj({ certificate: text(4000), authority: text(4000) })),
});
/** Of its machine, as it says them. */
const addresses = () => arr(str(45), 100).check(rules.zodRule(rules.nodeAddresses));
/** What a node itself calls; it proves who it is with the join token, later with its own key. */
export const nodeSelf = calls(
  { base: '/node', resource: 'nodeSelf', auth: 'node' },
  {
    'POST /join': {
      body: obj({
        token: confidential(text(200)),
        name: nodeName(),
        publicKey: text(100),
        addresses: addresses(),
        version: str(64).check(rules.zodRule(rules.freeName)),
        boxKey: opt(text(43)),
        memberKey: opt(text(200)),
        /** milliseconds since 1970 by its own clock; nodes of earlier releases say nothing */
        time: opt(big()),
        /** which boot of which machine this is: two that are heard at once are two machines; nodes of earlier releases say nothing */
        boot: opt(text(64)),
        /** with which a machine that is a node already proves that it is that one */
        signature: opt(text(500)),
      }),
      answer: Grant,
      errors: [
        'invalidToken',
        'tokenExpired',
        'nodeCommunication',
        'nodeInGroup',
        'nodeInVirtualNode',
        'invalidNodeTime',
        'nodesExceeded',
        'nodeVersionMismatch',
        'permissionDenied',
      ],
      audit: false,
    },
    'POST /credentials': {
      body: obj({
        nodeID: id(),
        time: big(),
        signature: text(500),
        boxKey: opt(text(43)),
        memberKey: opt(text(200)),
        /** where it is now; nodes of earlier releases say nothing */
        addresses: opt(addresses()),
        /** as when it joins */
        boot: opt(text(64)),
      }),
      answer: Grant,
      errors: ['invalidToken', 'nodeCommunication', 'invalidNodeTime'],
      audit: false,
    },
  },
);
