/**
 * The key of a zone, with which the private keys of its certificates are sealed on the bus. It follows from the key that signs documents, so
 * whoever may publish has it, and it is kept nowhere; nodes are told theirs when they join or fetch credentials (join.ts).
 */
import { hkdfSync } from 'node:crypto';
import type { DocumentKind, DocumentOf } from '#contract/edge/kinds/index.ts';
import { seal } from '#host/sealed.ts';
import type { Sealing } from '../kit/sealed.ts';

/** @param documentSeed base64url, of the bus's keys */
export const zoneKeyOf = (documentSeed: string, zoneID: number): Buffer =>
  Buffer.from(hkdfSync('sha256', Buffer.from(documentSeed, 'base64url'), '', `breakwater:zone:${zoneID}`, 32));

/** Where the column of private keys says that its texts belong. */
export const privateKeyPlace = 'certificate.privateKey';
/** The same on the bus; agent/src/zone-key.ts spells it too. */
export const sealedPlace = (id: number) => `certificate.${id}`;

/** A document's text as it goes out: what rows hold sealed with the installation's key is sealed with the zone's. */
export type Outward = (kind: DocumentKind, zoneID: number, document: object, body: string) => string;

/** @throws where a key cannot be opened: it was sealed with another installation's key */
export const outward =
  (documentSeed: string, sealing: Sealing | undefined): Outward =>
  (kind, zoneID, document, body) => {
    if (kind !== 'certificate') return body;
    if (!sealing) throw new Error('this process cannot open private keys');
    const { id, key, ...rest } = document as DocumentOf<'certificate'>; // by its kind
    const sealed = seal(zoneKeyOf(documentSeed, zoneID), sealedPlace(id), sealing.open(privateKeyPlace, key));
    return JSON.stringify({ ...rest, id, key: sealed });
  };
