/** Join lines that are still open: each lets a machine in until it is over, so they can be taken back. */
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { polling } from '#contract/limits.ts';
import type { RowOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { useCan } from '../kit/permissions.ts';
import { query, useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';

const listCall = 'GET /client/nodes/joinTokens';
const takeCall = 'DELETE /client/nodes/joinTokens';
/** So many are shown: of more than that, those that end last. */
const shown = 50;
type Line = RowOf<typeof listCall>;

const nameOf = ({ name }: Line) => name ?? t('join.unnamed');

export function OpenLines() {
  const can = useCan();
  const lines = useQuery({
    ...query(listCall, { query: { sortBy: 'expiredAt', orderBy: 'desc', pageSize: shown } }),
    staleTime: 0,
    refetchInterval: polling.nodeListPollMs,
    enabled: can(listCall),
  });
  const takeBack = useAction(takeCall, { success: t('message.updateSuccess') });
  const found = lines.data?.data ?? [];
  if (!found.length) return null;

  async function take(line: Line) {
    const question = { title: t('join.takeBack'), warning: t('join.takeBackText'), targets: [nameOf(line)] };
    const isAgreed = await isSure({ ...question, level: 'disruptive', confirm: t('join.takeBack') });
    if (isAgreed) await takeBack.run({ body: { ids: [line.id] } });
  }
  return (
    <section className="open-lines" aria-label={t('join.open')}>
      <h4>
        {t('join.open')} <span className="ink-3">{number(lines.data!.total)}</span>
      </h4>
      <ul>
        {found.map(line => (
          <li key={line.id}>
            <span className="grow">
              <strong>{nameOf(line)}</strong>
              <span className="cell-note">
                {[
                  t(`nodeType.${line.type}`),
                  line.zoneName ?? t('join.openNoZone'),
                  t('join.openUntil', { time: dateTime(line.expiredAt) }),
                  ...(line.maker === null ? [] : [line.maker]),
                ].join(' · ')}
              </span>
            </span>
            {can(takeCall) && (
              <Button size="small" disabled={takeBack.isPending} onClick={() => void take(line)}>
                {t('join.takeBack')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
