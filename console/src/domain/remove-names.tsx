/** Domains of a site are deleted by their names: pasted, each line judged before anything is sent, and asked for once more. */
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Input, Skeleton } from 'antd';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { caps } from '#contract/limits.ts';
import { isSure, mayDiscard } from '../kit/confirm.ts';
import { keepDraft, takeDraft } from '../kit/drafts.ts';
import { ErrorState } from '../kit/empty.tsx';
import { useHold } from '../kit/leaving.ts';
import { notify } from '../kit/notice.ts';
import { query, useAction } from '../kit/query.ts';
import { currentSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { type NameLine, nameLines, type Verdict } from './name-lines.ts';
import { removeNeeds } from './remove-needs.ts';

const [remove, names] = removeNeeds;

const widthPx = 640;
const shownMax = 200;
const tones: Record<Verdict, string> = { found: 'good', notFound: 'warn', wrong: 'bad', twice: 'idle' };
const verdicts = Object.keys(tones) as Verdict[];
/** What wants a look comes before what is as it should be. */
const listed: readonly Verdict[] = ['wrong', 'notFound', 'twice', 'found'];

export function RemoveNames({ siteID, onClose }: { siteID: number; onClose: () => void }) {
  const known = useQuery({ ...query(names, { siteID }), staleTime: 0 });
  const draftName = [currentSelf()?.id, remove, siteID].join(' ');
  const [draft] = useState(() => takeDraft(draftName));
  const [text, setText] = useState(() => String(draft?.values['text'] ?? ''));
  useEffect(() => {
    if (draft) notify.info(t('form.restored'));
  }, [draft]);
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const action = useAction(remove);
  const judged = useDeferredValue(text);
  const set = useMemo(() => new Set(known.data?.map(domain => domain.name)), [known.data]);
  const lines = useMemo(() => nameLines(judged, set), [judged, set]);
  const found = lines.filter(line => line.verdict === 'found').map(line => line.name);
  const isBusy = progress !== undefined;
  const isTyped = () => !isBusy && text.trim() !== '';
  useHold(isTyped, () => isTyped() && keepDraft(draftName, { values: { text } }));

  async function send() {
    const isAgreed = await isSure({
      level: 'destructive',
      title: t(found.length === 1 ? 'confirm.sureOne' : 'confirm.sure', { verb: t('action.remove'), count: found.length }),
      warning: t('warning.removeDomains'),
      targets: found,
      isDanger: true,
      confirm: t('action.remove'),
    });
    if (!isAgreed) return;
    let gone = 0;
    for (let start = 0; start < found.length; start += caps.namesTogetherMax) {
      setProgress({ done: start, total: found.length });
      const part = found.slice(start, start + caps.namesTogetherMax);
      // what failed has been shown by name; nothing more is sent then
      if (!(await action.run({ siteID, body: { names: part } }))) break;
      gone += part.length;
    }
    setProgress(undefined);
    const { data } = await known.refetch();
    const still = new Set(data?.map(domain => domain.name));
    const left = nameLines(text, set).filter(line => line.verdict !== 'found' || still.has(line.name));
    if (gone) notify.success(t('domains.removed', { count: number(gone) }));
    if (left.length === 0) return onClose();
    // what was not deleted stays, each line with the reason
    setText(left.map(line => line.typed).join('\n'));
  }

  async function close() {
    if (isBusy || (text.trim() && !(await mayDiscard()))) return;
    onClose();
  }

  return (
    <Drawer
      open
      title={t('domains.namesTitle')}
      size={widthPx}
      mask={{ blur: false }}
      onClose={() => void close()}
      footer={
        <div className="dialog-footer">
          <span className="grow ink-3" role="status">
            {progress && t('domains.removing', { done: number(progress.done), total: number(progress.total) })}
          </span>
          <Button onClick={() => void close()}>{t('action.cancel')}</Button>
          <Button type="primary" danger loading={isBusy} disabled={!found.length || judged !== text} onClick={() => void send()}>
            {found.length ? t('domains.removeFound', { count: number(found.length) }) : t('action.remove')}
          </Button>
        </div>
      }
    >
      {known.error && !known.data ? (
        <ErrorState error={known.error} onRetry={() => void known.refetch()} />
      ) : !known.data ? (
        <Skeleton active title={false} paragraph={{ rows: 6 }} />
      ) : (
        <>
          <p className="ink-3">{t('domains.pasteNames')}</p>
          <Input.TextArea
            className="mono names-input"
            aria-label={t('domains.namesTitle')}
            placeholder={'www.example.com\nimg.example.com'}
            autoFocus
            autoSize={{ minRows: 6, maxRows: 14 }}
            spellCheck={false}
            disabled={isBusy}
            value={text}
            onChange={event => setText(event.target.value)}
          />
          {lines.length > 0 && <Judged lines={lines} />}
        </>
      )}
    </Drawer>
  );
}

/** How many lines are what, and which: those that will not be deleted come first. */
function Judged({ lines }: { lines: readonly NameLine[] }) {
  const byVerdict = Map.groupBy(lines, line => line.verdict);
  const sorted = listed.flatMap(verdict => byVerdict.get(verdict) ?? []);
  return (
    <>
      <p className="names-sum" role="status">
        {verdicts
          .filter(verdict => byVerdict.has(verdict))
          .map(verdict => (
            <span key={verdict} className="status">
              <span className={`status-dot ${tones[verdict]}`} aria-hidden />
              {t(`nameVerdicts.${verdict}`, { count: number(byVerdict.get(verdict)!.length) })}
            </span>
          ))}
      </p>
      <ul className="rows names-lines" aria-label={t('domains.judged')}>
        {sorted.slice(0, shownMax).map(line => (
          <li key={line.line}>
            <span className="ink-3 names-number">{line.line}</span>
            <span className="grow mono">{line.verdict === 'wrong' ? line.typed : line.name}</span>
            <span className="status">
              <span className={`status-dot ${tones[line.verdict]}`} aria-hidden />
              {t(`nameVerdict.${line.verdict}`)}
            </span>
          </li>
        ))}
        {sorted.length > shownMax && <li className="ink-3">{t('confirm.more', { count: sorted.length - shownMax })}</li>}
      </ul>
    </>
  );
}
