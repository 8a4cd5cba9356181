/** CNAME zones: what customers' names lead into. A site's name there is `KEY.ZONE`, and leads on to its group (decisions, The parts). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, opt, page, record, str, text, time } from '../kit/schema.ts';
import { dnsTypes } from '../limits-resolution.ts';
import * as rules from '../rules.ts';

/** What would become of a name, were changes written now; `foreign`: nobody of ours wrote it, and nobody touches it. */
export const previewChanges = ['add', 'change', 'remove', 'foreign'] as const;
/** Rows of a preview, and those of them that others' records have at the least. */
export const previewMost = { rows: 200, foreign: 50, values: 80 } as const;

const nameServersMax = 8;
/** With all that stands before it (`v.gN.l.`) the name of a group has 127 characters at most: the embedded name server reads no longer ones in files of lines. */
const zoneNameMax = 110;

/** `ns1.example.com`; of one whose name lies in the zone itself with its addresses, which nobody else could tell: `ns1.cdn.example.net 192.0.2.53` */
const nameServers = () =>
  arr(str(400).check(rules.zodRule(rules.nameServer)), nameServersMax).check(rules.zodRule(rules.nameServers));
const zoneName = () => str(zoneNameMax).check(rules.zodRule(rules.cnameZone));

export const Cname = obj({
  ...record,
  domainName: text(253),
  dnsSettingID: id(),
  /** who answers for it */
  driver: one(dnsTypes),
  /** no longer offered to customers; the names it has go on leading */
  disabled: bool(),
  /** of the embedded name server; empty: this installation, by the name `ns1` in the zone. One of an operator's own says so itself. Rows of earlier releases may name one twice */
  nameServers: arr(text(400), nameServersMax),
  memo: text(255),
  /** DNSSEC, of the embedded name server: its answers are signed. One that is, stays so: who knows its DS believes nothing else. */
  signed: bool(),
  /** what the zone above has to say of a signed one, as a line of its file; none: it has no key yet */
  ds: arr(text(1000), 20),
  /** what it was seen to say of the zone's keys; where that is something, and nothing of `ds`, resolvers that validate believe no answer */
  dsAbove: arr(text(1000), 20),
  /** when resolvers last said so; null: never yet */
  dsSeenAt: nullable(time()),
  /** a new key is to take the place of the one before, since then; `ds` has both, the new one last, as soon as it may be told to the zone above */
  newKeyAt: nullable(time()),
  /** the zone above was seen to have its DS: it signs from then on, when nobody has the answer without it any more */
  newKeyFrom: nullable(time()),
  /** what it had to say of a key that is lost (restored without it): until that is replaced, resolvers that validate believe no answer */
  dsBefore: arr(text(1000), 20),
  /** the one new customers are told: the oldest that is not disabled */
  isOffered: bool(),
  /** domains that were seen to lead into it */
  domainCount: int(),
  /** changes that have not arrived there, and what went wrong last ('': nothing) */
  unprocessed: int(),
  error: text(500),
});

export const cnames = calls(
  { base: '/client/setting/dns', resource: 'cnames' },
  {
    'GET /cnames': { query: list({ disabled: opt(bool()) }), answer: page(Cname) },
    'POST /cname': {
      body: obj({ domainName: zoneName(), dnsSettingID: opt(id()), nameServers: opt(nameServers()), memo: opt(text(255)) }),
      answer: obj({ ids: arr(id()) }),
      errors: ['duplicated', 'invalidDNSSetting'],
    },
    'PUT /cname': {
      /** `dnsSettingID`: another answers for it from now on; what stands at the one before stays there until it is taken away */
      body: obj({
        id: id(),
        dnsSettingID: opt(id()),
        disabled: opt(bool()),
        signed: opt(bool()),
        /** the zone above says `ds` now, and nothing of the lost key */
        dsReplaced: opt(bool()),
        /** of a signed one: another key takes the place of its own, and both are believed meanwhile */
        newKey: opt(bool()),
        nameServers: opt(nameServers()),
        memo: opt(text(255)),
      }),
    },
    /** One that domains lead into stays. */
    'DELETE /cname': { body: obj({ ids: ids() }), errors: ['multiple'] },
    /**
     * What would be written there now, and what others have there: it is read alone. 101006: this installation has no such name server, or it
     * does not take the key. 101010: it does not answer, or refuses.
     */
    'POST /cname/preview': {
      body: obj({ id: id() }),
      answer: obj({
        ms: int(),
        /** of all, not of these rows */
        counts: obj({ add: int(), change: int(), remove: int(), foreign: int() }),
        rows: arr(
          obj({
            change: one(previewChanges),
            name: text(300),
            /** whose it is: a site's name, a group's answer to everybody; others' records are nobody's */
            kind: one(['site', 'group', 'other']),
            /** what that is called; '': it is no more */
            of: text(255),
            /** values as they stand there, and as they should; alike: what lines answer would be changed alone */
            there: arr(text(300), previewMost.values),
            wanted: arr(text(300), previewMost.values),
            /** it is not as it was written last */
            isByHand: bool(),
            /** somebody else's that keeps a name of ours from being written */
            isInTheWay: bool(),
          }),
          previewMost.rows,
        ),
      }),
      errors: ['invalidDNSSetting', 'dnsExecution'],
      permission: 'cnames.edit',
      audit: false,
    },
    'GET /cname/meta': { query: obj({ keyword: opt(str(64)) }), answer: arr(obj({ id: id(), name: text(253) }), 1000) },
  },
);
