import { SecretOnce } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const label = { zh_TW: 'API 權杖', zh_CN: 'API 令牌', en_US: 'API token' };
const secret = (text: string | undefined, name = say(label)) => (
  <SecretOnce label={name} secret={text} fileName="token.txt" onKept={() => {}} />
);

export default [
  { state: 'normal', show: () => secret('bw_live_4fJ2kQ8pXn7vT0sYcR5mZ1') },
  { state: 'loading', show: () => secret(undefined) },
  { state: 'long', show: () => secret('0123456789abcdef'.repeat(16), say(long)) },
] satisfies Example[];
