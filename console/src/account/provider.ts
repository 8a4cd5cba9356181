/** Going to the operator's identity provider and coming back: the key of the way stays in this tab. */
import { area } from '../kit/area.ts';
import { call } from '../kit/client.ts';
import { fieldsOf } from '../kit/errors.ts';
import { stored } from '../kit/stored.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

interface Flow {
  flowKey: string;
  /** of one's own account; else somebody signs in */
  isLink: boolean;
}
const kept = stored(`${area}.oidc`, 'sessionStorage');
/** It serves once. */
export function takeFlow(): Flow | undefined {
  const held = kept.get();
  kept.set(null);
  const [flowKey, what] = held?.split(' ') ?? [];
  return flowKey ? { flowKey, isLink: what === 'link' } : undefined;
}
function go({ url, flowKey }: { url: string; flowKey: string }, isLink: boolean): void {
  kept.set(`${flowKey} ${isLink ? 'link' : 'enter'}`);
  location.assign(url);
}
const { origin } = location;

export const toProvider = async () => go(await call('POST /{area}/oidc/start', { body: { origin } }, { from: 'login' }), false);
export const toLink = async (password: string) =>
  go(await call('POST /{area}/account/identity/start', { body: { password, origin } }, { from: 'step' }), true);

/** What the provider's part in a failure is, in words of the pages before the shell. */
export function clearly(error: unknown): unknown {
  const rules = error instanceof ApiError ? fieldsOf(error.errorData).map(one => one.rule) : [];
  if (rules.includes('oidcUnlinked')) return new Error(t('oidc.unlinked'));
  if (rules.includes('oidcGone') || rules.includes('oidcHost')) return new Error(t('oidc.away'));
  return error;
}
