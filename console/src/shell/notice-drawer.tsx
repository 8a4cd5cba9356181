/** What happened: the newest first, what is new marked; and what one wants to be told, and how. */
import './notice-drawer.css';
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Switch } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { type NoticeKind, noticeLimits } from '#contract/limits.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { present } from '../kit/present.tsx';
import { query, queryClient } from '../kit/query.ts';
import { Toned } from '../kit/status.tsx';
import { loadSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const widthPx = 560;
const chosen = query('GET /{area}/notices/choices');
type Notice = AnswerOf<'GET /{area}/notices'>['notices'][number];
type Choice = AnswerOf<'GET /{area}/notices/choices'>['choices'][number];
const tones: Record<NoticeKind, 'good' | 'warn' | 'bad'> = {
  certificateFailed: 'bad',
  certificateEnds: 'warn',
  nodeOffline: 'bad',
  nodeBack: 'good',
  originDown: 'bad',
  originBack: 'good',
  trafficWarning: 'warn',
  trafficUsedUp: 'warn',
  trafficLimited: 'bad',
  accountLocked: 'warn',
  accountEnds: 'warn',
  licenceEnds: 'warn',
  backupFailed: 'bad',
  newDevice: 'warn',
  tokenCopied: 'bad',
};

export function NoticeDrawer({ onClose }: { onClose: () => void }) {
  const [isChoosing, setChoosing] = useState(false);
  return (
    <Drawer
      open
      title={t(isChoosing ? 'notices.choose' : 'notices.title')}
      size={widthPx}
      mask={{ blur: false }}
      onClose={onClose}
      extra={<Button onClick={() => setChoosing(!isChoosing)}>{t(isChoosing ? 'notices.back' : 'notices.choose')}</Button>}
    >
      {isChoosing ? <Choices /> : <Inbox />}
    </Drawer>
  );
}

/** All that was seen while the drawer is open: those that slip off the newest page stay, and what was new when it came stays marked. */
const seenKey = ['noticesSeen'];
function merged(known: readonly Notice[], more: readonly Notice[]): Notice[] {
  const all = new Map(known.map(one => [one.id, one]));
  for (const one of more) all.set(one.id, { ...one, readAt: all.has(one.id) ? all.get(one.id)!.readAt : one.readAt });
  return [...all.values()].sort((a, b) => b.id - a.id);
}

function Inbox() {
  const [isAll, setAll] = useState(false);
  const found = useQuery({
    queryKey: seenKey,
    queryFn: async ({ signal }) => {
      const { notices } = await call('GET /{area}/notices', { query: {} }, { signal });
      const known = queryClient.getQueryData<Notice[]>(seenKey) ?? [];
      // more came than one answer tells: what was seen would stand below a gap that nothing fills
      const hasGap = notices.length >= noticeLimits.shownMax && (known[0]?.id ?? 0) < notices.at(-1)!.id;
      if (hasGap) setAll(false);
      return merged(hasGap ? [] : known, notices);
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const [isBusy, setBusy] = useState(false);
  const seen = useRef(0);
  const all = found.data;
  const newest = all?.[0]?.id ?? 0;
  useEffect(() => {
    if (newest <= seen.current) return;
    seen.current = newest;
    // what stands here has been seen; what it looks like stays until it is opened again
    void call('POST /{area}/notices/read', { body: { upTo: newest } }).then(
      () => queryClient.invalidateQueries({ queryKey: query('GET /{area}/notices/unread').queryKey }),
      () => {},
    );
  }, [newest]);
  if (found.error && !all) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!all) return <div className="tab-wait" aria-busy />;
  if (!all.length)
    return (
      <Empty drawing="nothing" title={t('notices.none')}>
        {t('notices.noneText')}
      </Empty>
    );
  const last = all.at(-1)!;
  async function more() {
    setBusy(true);
    try {
      const older = await call('GET /{area}/notices', { query: { before: last.id } });
      // they go below the last one alone: what came meanwhile may have begun anew
      if (queryClient.getQueryData<Notice[]>(seenKey)?.at(-1)?.id !== last.id) return;
      queryClient.setQueryData<Notice[]>(seenKey, known => known && merged(known, older.notices));
      setAll(older.notices.length < noticeLimits.shownMax);
    } catch (error) {
      present(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <ul className="notice-list">
        {all.map(one => (
          <li key={one.id}>
            <Toned tone={tones[one.kind]}>
              {one.readAt === null ? <strong>{one.sentence}</strong> : <span>{one.sentence}</span>}
            </Toned>
            {one.detail && <p className="ink-2">{one.detail}</p>}
            <p className="ink-3">
              {dateTime(one.latestAt)}
              {one.readAt === null && ` · ${t('notices.new')}`}
            </p>
          </li>
        ))}
      </ul>
      {all.length >= noticeLimits.shownMax && !isAll && (
        <Button loading={isBusy} onClick={() => void more()}>
          {t('notices.more')}
        </Button>
      )}
    </>
  );
}

function Choices() {
  const found = useQuery({ ...chosen, staleTime: 0, retry: false });
  const [isBusy, setBusy] = useState(false);
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <div className="tab-wait" aria-busy />;
  async function set(choice: Choice) {
    setBusy(true);
    try {
      await call('POST /{area}/notices/choices', { body: { choices: [choice] } });
      await queryClient.invalidateQueries({ queryKey: chosen.queryKey });
      // the mail of it stands on one's own page, too
      if (choice.kind === 'newDevice') await loadSelf();
    } catch (error) {
      present(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <p className="ink-2">{t('notices.chooseText')}</p>
      <table className="numbers notice-choices">
        <thead>
          <tr>
            <th scope="col">{t('notices.what')}</th>
            <th scope="col">{t('notices.inbox')}</th>
            <th scope="col">{t('notices.mail')}</th>
          </tr>
        </thead>
        <tbody>
          {found.data.choices.map(choice => (
            <tr key={choice.kind}>
              <th scope="row">{t(`noticeKind.${choice.kind}`)}</th>
              {(['inbox', 'mail'] as const).map(way => (
                <td key={way}>
                  <Switch
                    size="small"
                    disabled={isBusy}
                    checked={choice[way]}
                    aria-label={`${t(`noticeKind.${choice.kind}`)}: ${t(`notices.${way}`)}`}
                    onChange={isOn => void set({ ...choice, [way]: isOn })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
