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
  /** the page that was wanted before; whoever goes there asks `wanted` first */
  next: string | undefined;
}
const kept = stored(`${area}.oidc`, 'sessionStorage');
/** It serves once. */
export function takeFlow(): Flow | undefined {
  const held = kept.get();
  kept.set(null);
  const [flowKey, what, next] = held?.split(' ') ?? [];
  return flowKey ? { flowKey, isLink: what === 'link', next: next || undefined } : undefined;
}
function go({ url, flowKey }: { url: string; flowKey: string }, isLink: boolean, next = ''): void {
  kept.set(`${flowKey} ${isLink ? 'link' : 'enter'} ${next}`);
  location.assign(url);
}
const { origin } = location;

/** `next`: the page to open afterwards. */
export const toProvider = async (next: string | undefined) =>
  go(await call('POST /{area}/oidc/start', { body: { origin } }, { from: 'login' }), false, next);
export const toLink = async (password: string) =>
  go(await call('POST /{area}/account/identity/start', { body: { password, origin } }, { from: 'step' }), true);

/** What the provider's part in a failure is, in words of the pages before the shell. */
export function clearly(error: unknown): unknown {
  const rules = error instanceof ApiError ? fieldsOf(error.errorData).map(one => one.rule) : [];
  if (rules.includes('oidcUnlinked')) return new Error(t('oidc.unlinked'));
  if (rules.includes('oidcGone') || rules.includes('oidcHost')) return new Error(t('oidc.away'));
  return error;
}
