/** How much nodes write down (§7 system/log). */
import { debugSamplings, nodeLogHoursMax, nodeLogLevels } from '#contract/limits.ts';
import { type FormField, options } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { SystemCard } from './system-card.tsx';

const fields = (): FormField[] => [
  { name: 'level', label: 'nodeLogLevel', kind: 'segments', help: 'nodeLogLevel', ...options(nodeLogLevels, 'nodeLogLevel') },
  { name: 'sampling', kind: 'select', help: 'debugSampling', ...options(debugSamplings, 'debugSampling') },
];
export const NodeLog = () => (
  <SystemCard
    name="nodeLog"
    read="GET /client/setting/system/log"
    write="PUT /client/setting/system/log"
    fields={fields}
    note={() => t('nodeLog.where', { hours: nodeLogHoursMax })}
    shown={({ level, sampling }) => `${t(`nodeLogLevel.${level}`)} · ${t(`debugSampling.${sampling}`)}`}
  />
);
