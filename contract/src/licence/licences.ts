/**
 * Licences (§3 License, §7 Admin licenses; decisions.md, Licences): what an operator may have, and how long. A licence is a template;
 * an order says which one an operator holds, with what was agreed for it; an offline licence is a signed file that an installation
 * verifies by itself.
 */
import { calls } from '../kit/call.ts';
import {
  arr,
  id,
  ids,
  int,
  list,
  nullable,
  obj,
  one,
  opt,
  page,
  partial,
  record,
  str,
  text,
  time,
  limit,
} from '../kit/schema.ts';
import { licenceKinds, licenceStates, portTypes } from '../limits.ts';
import * as rules from '../rules.ts';

/** 0: unlimited (§9). */
export const limitFields = {
  siteLimit: limit(),
  nodeLimit: limit(),
  zoneLimit: limit(),
  domainLimit: limit(),
  autoSSLLimit: limit(),
  portType: one(portTypes),
  /** the shortest span at which nodes are probed; 0: any */
  nodeMonitorSeconds: int(0, 86_400),
};
const freeName = () => str(64).check(rules.zodRule(rules.freeName));
/** Days that it holds from its issue on; 0: without end. */
const days = () => int(0, 36_500);
/** As the console shows it and an installation says it: `ABCDE-ABCDE-ABCDE-ABCDE`. */
export const installationID = () => str(23).check(rules.zodRule(rules.installationID));

export const License = obj({ ...record, name: text(64), days: days(), ...limitFields, holders: int() });
/** What an operator has of what is limited. */
export const Usage = obj({ sites: int(), nodes: int(), zones: int(), domains: int(), autoSSL: int() });
/** What one operator holds. */
export const Order = obj({
  userID: id(),
  kind: one(licenceKinds),
  state: one(licenceStates),
  name: text(64),
  licenseSetting: obj(limitFields),
  startTime: nullable(time()),
  /** null: without end */
  expiredAt: nullable(time()),
  /** of an offline licence: the number its file has */
  serial: nullable(text(40)),
  usage: Usage,
  version: int(),
});

/** An operator, with what it holds. */
export const Holder = obj({
  ...record,
  email: text(254),
  name: text(100),
  kind: one(licenceKinds),
  state: one(licenceStates),
  license: text(64),
  expiredAt: nullable(time()),
});

/** The signed file: a compact JWS (RFC 7515) with EdDSA over this, as JSON. */
export const OfflineFile = obj({
  product: one(['breakwater']),
  serial: str(40),
  /** counts its changes: of two files with one serial the higher one counts */
  revision: int(1),
  name: str(64),
  issuedAt: time(),
  expiredAt: nullable(time()),
  /** null: of whichever installation registers it */
  installationID: nullable(installationID()),
  ...limitFields,
});
/** bytes of a licence file at most */
export const licenceFileMax = 8192;
export const Offline = obj({
  ...record,
  name: text(64),
  serial: text(40),
  revision: int(1),
  days: days(),
  expiredAt: nullable(time()),
  ...limitFields,
  installationID: nullable(text(23)),
  registeredAt: nullable(time()),
  /** the file itself */
  file: text(licenceFileMax),
});

export const licenses = calls(
  { base: '/admin', areas: ['admin'], resource: 'licenses' },
  {
    'GET /license': { query: list({ keyword: opt(str(64)) }), answer: page(License) },
    'POST /license': {
      body: obj({ name: freeName(), days: opt(days()), ...partial(limitFields) }),
      answer: obj({ ids: arr(id(), 1) }),
      errors: ['duplicated'],
    },
    'PUT /license': {
      body: obj({ id: id(), name: opt(freeName()), days: opt(days()), ...partial(limitFields) }),
      errors: ['duplicated'],
    },
    'DELETE /license': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);

export const licenseOrders = calls(
  { base: '/admin', areas: ['admin'], resource: 'licenses' },
  {
    'POST /license/issuing': {
      body: obj({ licenseID: id(), userID: id() }),
      errors: ['licenseNotFound'],
    },
    'GET /license/orders': { query: list({ keyword: opt(str(64)) }), answer: page(Holder) },
    'GET /license/{userId}/order': { answer: Order },
    'PUT /license/{userId}/order': {
      // left out, it ends when it did
      body: obj({ ...limitFields, expiredAt: opt(nullable(time())) }),
      errors: ['licenseNotFound'],
    },
  },
);

export const offlineLicenses = calls(
  { base: '/admin', areas: ['admin'], resource: 'licenses' },
  {
    'GET /license/offlines': { query: list({ keyword: opt(str(64)) }), answer: page(Offline) },
    'POST /license/offline/issuing': {
      body: obj({ licenseID: id(), name: freeName(), installationID: opt(nullable(installationID())) }),
      answer: obj({ ids: arr(id(), 1), file: text(licenceFileMax) }),
      errors: ['licenseNotFound'],
    },
    'PUT /license/offline': {
      body: obj({
        id: id(),
        name: opt(freeName()),
        days: opt(days()),
        ...partial(limitFields),
        installationID: opt(nullable(installationID())),
      }),
      errors: ['illegalPortType'],
    },
    'DELETE /license/offline': { body: obj({ ids: ids() }), errors: ['multiple'] },
    'DELETE /license/offline/register': { body: obj({ ids: ids() }), errors: ['licenseNotFound', 'multiple'] },
  },
);

/** A client root's: puts the file into force for its operator, bound to this installation. */
export const offlineLicense = calls(
  { base: '/offline', areas: ['client'], resource: 'license' },
  {
    'PUT /license': {
      licence: false,
      body: obj({ license: text(licenceFileMax) }),
      errors: ['permissionDenied', 'illegalLicense', 'illegalPortType', 'licenseExpired'],
    },
  },
);

/** What one's own operator holds, and how this installation is called. */
export const ownLicense = calls(
  { base: '/client', areas: ['client'], resource: 'license' },
  { 'GET /license': { answer: obj({ ...Order.shape, installationID: text(23), verifyKey: text(43) }) } },
);
