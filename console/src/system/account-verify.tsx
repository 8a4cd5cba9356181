/** Whether each sign-in takes a second factor (§7 accountVerify). */
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { SystemCard } from './system-card.tsx';

const fields = (): FormField[] => [{ name: 'enabled', label: 'accountVerify', kind: 'switch', help: 'accountVerify' }];
export const AccountVerify = () => (
  <SystemCard
    name="accountVerify"
    read="GET /client/setting/system/accountVerify"
    write="PUT /client/setting/system/accountVerify"
    fields={fields}
    errors={{ fields: { illegalEmailSettings: 'enabled' } }}
    shown={({ enabled }) => t(enabled ? 'accountVerify.on' : 'accountVerify.off')}
  />
);
