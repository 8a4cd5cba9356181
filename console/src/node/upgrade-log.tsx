/** What became of each upgrade of one node, in its own words. */
import { useQuery } from '@tanstack/react-query';
import { Alert, Drawer, Empty, Space } from 'antd';
import { polling } from '#contract/limits.ts';
import { Facts, Status } from '../kit/bits.tsx';
import { ErrorState } from '../kit/empty.tsx';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import type { Node } from './state.ts';

const widthPx = 640;

export function UpgradeLog({ node, onClose }: { node: Node; onClose: () => void }) {
  const found = useQuery({
    ...query('GET /client/node/{id}/upgrade/logs', { id: node.id }),
    staleTime: 0,
    refetchInterval: polling.nodeInformationPollMs,
  });
  return (
    <Drawer open title={t('upgrade.logOf', { node: node.name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {!found.data &&
        (found.error ? (
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <div className="tab-wait" aria-busy />
        ))}
      {found.data?.upgrades.length === 0 && <Empty description={t('state.notUpdated')} />}
      {found.data?.upgrades.map(one => (
        <section key={one.id} style={{ marginBottom: 24 }}>
          <h2 className="section-title">
            <Space size="middle" wrap>
              {`${one.fromVersion} → ${one.toVersion}`}
              <Status value={one.state} />
            </Space>
          </h2>
          {one.why && <Alert type="error" showIcon title={one.why} style={{ marginBottom: 12 }} />}
          <Facts
            facts={[
              [t('upgrade.begun'), dateTime(one.createdAt)],
              ...one.steps.map(({ step, at }) => [t(`upgradeStep.${step}`), dateTime(at)] as const),
            ]}
          />
        </section>
      ))}
    </Drawer>
  );
}
