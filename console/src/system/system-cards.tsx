/** The console's own address, and from where people may come. */
import type { FormField } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { hostErrors, HostInput, hostTold } from './host-input.tsx';
import { SystemCard } from './system-card.tsx';

const addressFields = ({ installation }: { installation: string }): FormField[] => [
  {
    name: 'outgoingURL',
    kind: 'custom',
    isOptional: true,
    help: 'outgoingURL',
    told: hostTold,
    mend: typed => ({ outgoingURL: typed.trim() }),
    render: input => <HostInput {...input} of="outgoingURL" placeholder={installation} />,
  },
];
export const OutgoingURL = () => (
  <SystemCard
    name="outgoingURL"
    read="GET /client/setting/system/outgoingURL"
    write="PUT /client/setting/system/outgoingURL"
    fields={addressFields}
    errors={hostErrors('outgoingURL')}
    isPresent
    note={({ installation }) => t('system.addressNow', { url: installation })}
  />
);

const networkFields = (): FormField[] => [
  { name: 'cidrs', label: 'signInNetworks', kind: 'lines', isOptional: true, help: 'cidrs' },
];
export const RestrictCIDRs = () => (
  <SystemCard
    name="restrictGroupCIDRs"
    read="GET /client/setting/system/restrictGroupCIDRs"
    write="PUT /client/setting/system/restrictGroupCIDRs"
    fields={networkFields}
    note={({ address }) => t('system.addressYours', { address })}
  />
);
