/** Private keys of certificates come sealed with the key of the node's zone, which it was told when it joined or fetched credentials. */
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { open } from '#host/sealed.ts';

/** @throws a sentence, without a word of what is sealed */
export function openKey({ id, key }: DocumentOf<'certificate'>, zoneKey: string | null | undefined): string {
  if (!zoneKey) throw new Error('this node was told no key of its zone');
  return open(Buffer.from(zoneKey, 'base64url'), `certificate.${id}`, key);
}
