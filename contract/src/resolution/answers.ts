/** What a group answers: to whom, since when, and how it came to that. */
import { calls } from '../kit/call.ts';
import { arr, big, bool, id, int, nullable, obj, one, opt, page, paged, str, text, time } from '../kit/schema.ts';
import { answerChanges, answerReasons, lineExtents, lineMatches } from '../limits.ts';
import * as rules from '../rules.ts';
import { Credit, Place } from '../kit/place.ts';

const Answer = obj({ a: arr(text(45), 1000), aaaa: arr(text(45), 1000), cname: nullable(text(253)) });
export const AnswerChange = obj({
  id: big(),
  lineID: id(),
  /** as it was called then */
  lineName: text(64),
  change: one(answerChanges),
  /** '' of a line */
  UID: text(32),
  name: text(64),
  reason: one(answerReasons),
  /** since it was heard of */
  seconds: int(),
  at: time(),
});

const address = () => str(45).check(rules.zodRule(rules.ipAddress));

export const groupAnswers = calls(
  { base: '/client', resource: 'groups' },
  {
    /**
     * What a visitor of this address gets, or one from a place as lines have it (`continent:AS`, `TW`, `TW-TPE`), of an ASN, or both, for
     * which an address there stands; left out: whom no line is for. `resolver`: through whom it asks; one that tells of visitors' networks
     * (`subnet`, RFC 7871; unless it is false) is answered for these, any other for itself.
     */
    'GET /group/{g}/answer': {
      query: obj({
        visitor: opt(address()),
        place: opt(str(12).check(rules.zodRule(rules.placeCode))),
        asn: opt(int(1, 4_294_967_295)),
        resolver: opt(address()),
        subnet: opt(bool()),
      }),
      answer: obj({
        lineID: id(),
        lineName: text(64),
        /** the address that was asked for, or that stands for its place; null: none was, or the data know none there */
        visitor: nullable(text(45)),
        /** for whom it is answered: a network as the resolver tells of it, or an address; null: for everybody */
        judged: nullable(text(50)),
        /** the network of the line that the visitor is in; null: no line is for it */
        network: nullable(text(50)),
        /** why it is on that line, and by which network, ASN (`AS3462`) or place (`TW`) of it */
        by: one(lineMatches),
        of: nullable(text(50)),
        /** where what it is judged by is taken to be; null: there are no data */
        place: nullable(Place),
        credits: arr(Credit, 20),
        answer: Answer,
        members: arr(obj({ UID: text(32), name: text(64) }), 1000),
        changedAt: nullable(time()),
        /** where it can be asked, and whether what is wished has arrived there; `lines`: which of them count there, and what that makes of the answer */
        zones: arr(obj({ cnameID: id(), name: text(300), isApplied: bool(), lines: one(lineExtents), answer: Answer }), 1000),
      }),
    },
    /** The newest first, unless it is asked for otherwise (`sortBy` id or at). */
    'GET /group/{g}/answers': {
      query: paged({}),
      answer: page(AnswerChange),
    },
  },
);
