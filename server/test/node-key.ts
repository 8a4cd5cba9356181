/** The key of a node that is none: what it signs is what a node would. */
import { sign } from 'node:crypto';
import { nkey } from '#server/bus/nkeys.ts';

export function nodeKey() {
  const { publicKey, key } = nkey('user');
  return { publicKey, sign: (text: string) => sign(null, Buffer.from(text), key).toString('base64') };
}
