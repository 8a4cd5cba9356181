/** Documents as they come: read, checked, and what is noted of each. */
import type { DomainDocument, EdgeDocument, ZoneDocument } from '#contract/edge/document.ts';
import { type DocumentOf, isKind, keysOf, kinds } from '#contract/edge/kinds/index.ts';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import { originNames, partyOf, wantsChecks } from './document-facts.ts';
import { type Judge, checkKey, frame, recordBytesMax, recordsOf } from './render/records.ts';
import { type OwnTrust, ownTrust } from './render/trusts.ts';
import { quicken } from './quick-schemas.ts';
import { unknownFields } from './unknown.ts';

for (const { schema } of Object.values(kinds)) quicken(schema);

/** What is noted of a document. */
export interface Claimed {
  id: number;
  enabled: boolean;
  /** its text needs no schema to be read again (`ReadDocument.isAsSaid`) */
  isAsSaid: boolean;
  keys: string[];
  /** host names of its origins */
  names: string[];
  /** whose share of what this node has few of */
  party: string;
  /** the document, of a domain whose origins are asked how they are */
  checked?: DomainDocument | undefined;
  /** authority of its own by which a domain's origins are verified */
  trust?: OwnTrust | undefined;
  /** the document, of a zone */
  zone: ZoneDocument | undefined;
  /** what is set of a node: of us, or of another of our zone */
  node: DocumentOf<'node'> | undefined;
}

/** Of a subject that was read (readDocument). */
export function kindOf(subject: string) {
  const kind = parseConfigSubject(subject)?.kind;
  if (kind === undefined || !isKind(kind)) throw new Error(`no kind of document: ${subject}`);
  return kind;
}

/** @param subject one that was read (readDocument), with its document */
export function claimOf(subject: string, document: EdgeDocument, isAsSaid = false): Claimed {
  const kind = kindOf(subject);
  return {
    id: document.id,
    enabled: !('enabled' in document) || document.enabled,
    isAsSaid,
    // what is set of a node is no matter of nginx
    keys: kind === 'node' ? [] : keysOf(kind, document),
    names: originNames(document),
    party: partyOf(document),
    checked: wantsChecks(document) ? document : undefined,
    trust: 'originTLS' in document ? ownTrust(document.originTLS) : undefined,
    zone: kind === 'zone' ? (document as ZoneDocument) : undefined, // by its kind
    node: kind === 'node' ? (document as DocumentOf<'node'>) : undefined, // by its kind
  };
}

/** For measuring alone: such a record goes nowhere. */
const measured: Judge = () => ({ allowed: true });
/** A name has few addresses; so many each are reckoned with. */
const many = Array.from({ length: 16 }, (_, i) => `${i}.255.255.255`);
/** So short a document gives a record far below `recordBytesMax`, whatever its origins' names lead to: it is not measured. */
const shortBytes = 4096;

export interface ReadDocument {
  /** as the contract wants it, with the defaults of what it does not say */
  document: EdgeDocument;
  /** Nothing was left out and no default put in, as the compiler writes it: read again, the text alone says all of it. Each is read twice. */
  isAsSaid: boolean;
  /** how many of its fields nobody here knows; they are left out */
  unknown: number;
}

/**
 * A document that fits the contract and the subject it came on, and is of a size nginx takes.
 * @throws a sentence that says what is wrong with it
 */
export function readDocument(subject: string, body: string): ReadDocument {
  const parsed = parseConfigSubject(subject);
  if (!parsed) throw new Error('unknown subject');
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Error('not JSON');
  }
  const { kind } = parsed;
  if (!isKind(kind)) throw new Error(`this node knows no documents of the kind ${kind}: it is older than the control plane`);
  const checked = kinds[kind].schema.safeParse(json);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new Error(`${issue?.path.join('.') || 'document'}: ${issue?.message ?? 'invalid'}`);
  }
  const document = checked.data;
  if (document.id !== parsed.id) throw new Error(`id ${document.id} on the subject of ${parsed.id}`);
  for (const key of keysOf(kind, document)) checkKey(key);
  if (body.length > shortBytes) {
    const bytes = frame(recordsOf(kind, document, () => many, measured)).length;
    if (bytes > recordBytesMax) throw new Error(`the record would have ${bytes} bytes, at most ${recordBytesMax} are taken`);
  }
  const isAsSaid = JSON.stringify(document) === body;
  return { document, isAsSaid, unknown: isAsSaid ? 0 : unknownFields(json, document) };
}
