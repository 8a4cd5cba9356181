/** Data of where addresses are, fetched from the owner's own source (issue 10): where it is, how often, and what became of it. */
import { calls } from '../kit/call.ts';
import { bool, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { taskOf } from '../kit/task.ts';
import { geoRhythms } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** of an MMDB, packed by gzip or in a tar of it or not; '': none */
  url: text(1000).check(rules.zodRule(rules.webhookURL)),
  headerName: text(90).check(rules.zodRule(rules.geoHeaderName)),
  /** what the header says; a redirect to another host takes it nowhere */
  header: secret(2000, rules.zodRule(rules.geoHeader)),
  every: one(geoRhythms),
};

export const geoSource = calls(
  { base: '/client/setting/dns/geoData', areas: ['client'], resource: 'dnsSetting' },
  {
    'GET /source': {
      owner: true,
      answer: obj({
        ...told(fields),
        version: int(),
        /** it was asked, whatever it said */
        lookedAt: nullable(time()),
        /** another file was taken */
        takenAt: nullable(time()),
        /** of the data that were taken; null: they do not say */
        dataAt: nullable(time()),
        /** SHA-256 of the MMDB that was taken */
        sha256: nullable(text(64)),
        /** why the latest look came to nothing, and since when none came to anything */
        problem: nullable(text(2000)),
        failedSince: nullable(time()),
        /** when it is asked by itself */
        nextAt: nullable(time()),
        isRefreshing: bool(),
      }),
    },
    'PUT /source': { owner: true, auth: 'session', body: obj(fields) },
    /** The file is fetched, if it is another one, read as one that was uploaded, and counts. */
    'POST /source/refresh': {
      owner: true,
      auth: 'session',
      permission: 'dnsSetting.edit',
      answer: obj({ taskID: id() }),
    },
  },
);

export const geoRefresh = taskOf({
  name: 'geoRefresh',
  resource: 'dnsSetting',
  of: 'account',
  single: true,
  input: obj({ id: id() }),
  about: ['host'],
  says: {
    asking: ['host'],
    /** it is what was taken the last time */
    unchanged: [],
    /** millions of bytes */
    fetched: ['mb'],
    taken: ['networks'],
    /** the owner went back to the included data meanwhile */
    dropped: [],
    /** why stands beside it */
    kept: [],
  },
});
