/** A secret is never read back: left empty in its form it stays, and is not sent. */
import type { Values } from '../kit/resource.ts';

export const keptWhenEmpty =
  (name: string) =>
  ({ [name]: secret, ...rest }: Values): Values => ({ ...rest, ...(secret ? { [name]: secret } : {}) });
