/** Everything known about one node, asked anew every two seconds (§9, node information). */
import { useQuery } from '@tanstack/react-query';
import { Alert, Drawer } from 'antd';
import { logRotateNoneSeconds, polling } from '#contract/limits.ts';
import { Facts } from '../kit/bits.tsx';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { Addresses } from './addresses.tsx';
import { ago } from './ago.tsx';
import { NodeMachine } from './node-machine.tsx';
import { NodeMemo } from './node-memo.tsx';
import { WholeState } from './node-state.tsx';
import type { Node } from './state.ts';
import { SubNodes } from './sub-nodes.tsx';
import { Refusals, SetAsideCount, SetAsideList, Sync } from './sync.tsx';

const widthPx = 640;

export function NodeDetail({ node: given, onClose }: { node: Node; onClose: () => void }) {
  const key = given.zoneID === null ? ('GET /client/nodes/uninitialized' as const) : ('GET /client/nodes/initialized' as const);
  const found = useQuery({
    ...query(key, { query: { ids: [given.id] } }),
    staleTime: 0,
    refetchInterval: polling.nodeInformationPollMs,
  });
  // the banner's own question: one model, so one set of words
  const health = useQuery({ ...query('GET /{area}/systemHealth'), refetchInterval: polling.nodeListPollMs });
  const troubles = health.data?.troubles.filter(one => one.nodeID === given.id) ?? [];
  const current = found.data?.data.find(one => one.id === given.id);
  const isGone = found.data !== undefined && current === undefined;
  const node = current ?? given;
  return (
    <Drawer open title={node.name} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {isGone && <Alert type="warning" showIcon title={t('error.rowGone')} style={{ marginBottom: 12 }} />}
      {troubles.map(one => (
        <Alert
          key={one.check}
          type={one.state === 'fail' ? 'error' : 'warning'}
          showIcon
          title={one.sentence}
          description={one.advice}
          style={{ marginBottom: 12 }}
        />
      ))}
      <Facts
        facts={[
          [t('field.status'), <WholeState key="status" node={node} />],
          [t('field.zone'), node.zoneName ?? t('state.uninitialized')],
          [t('field.type'), t(`nodeType.${node.type}`)],
          ...(node.relaysAway.length > 0
            ? [
                [
                  t('field.relaysAway'),
                  node.relaysAway.map(one => (
                    <div key={one.id}>{t('node.relayAway', { name: one.name, since: ago(one.since), why: one.why })}</div>
                  )),
                ] as const,
              ]
            : []),
          [t('field.addresses'), <Addresses key="addresses" values={node.addresses} isAll />],
          [
            t('field.version'),
            <span key="version" className="mono">
              {node.version || '–'}
            </span>,
          ],
          [t('field.configuration'), node.zoneID === null ? '–' : <Sync key="sync" node={node} />],
          [t('field.aside'), <SetAsideCount key="aside" node={node} />],
          [
            t('field.lastBeat'),
            node.lastBeat === null ? '–' : t('node.timeAndAgo', { time: dateTime(node.lastBeat), ago: ago(node.lastBeat) }),
          ],
          [
            t('field.startedAt'),
            node.startedAt === null ? '–' : t('node.timeAndAgo', { time: dateTime(node.startedAt), ago: ago(node.startedAt) }),
          ],
          [t('field.createdAt'), dateTime(node.createdAt)],
          [t('field.portType'), t(`portType.${node.portType}`)],
          [
            t('field.geneva'),
            node.geneva === null ? t('geneva.off') : `${t(`geneva.${node.geneva.version}`)} · ${node.geneva.window}`,
          ],
          [
            t('field.logRotateTime'),
            node.logRotateTime === logRotateNoneSeconds ? t('node.never') : t('node.everySeconds', { count: node.logRotateTime }),
          ],
          [t('field.memo'), <NodeMemo key="memo" node={node} />],
        ]}
      />
      <NodeMachine node={node} />
      <h2 className="section-title">{t('page.subNodes')}</h2>
      <SubNodes id={node.id} />
      {node.refused.length > 0 && (
        <>
          <h2 className="section-title">{t('node.refusedTitle', { count: node.refused.length })}</h2>
          <p className="ink-3">{t('node.refusedText')}</p>
          <Refusals node={node} />
        </>
      )}
      {!!node.aside?.length && (
        <>
          <h2 className="section-title">{t('field.aside')}</h2>
          <p className="ink-3">{t('node.asideText')}</p>
          <SetAsideList aside={node.aside} />
        </>
      )}
    </Drawer>
  );
}
