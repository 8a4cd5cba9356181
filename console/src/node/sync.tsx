/** How far a node is with its configuration: the sequence it serves, what is still to come, what it refused; and what of its log counts for nobody. */
import { Popover } from 'antd';
import type { ReactNode } from 'react';
import { asideMessages } from '#contract/limits.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';
import type { Node } from './state.ts';

export function Sync({ node }: { node: Node }) {
  const isBehind = node.behind > 0;
  return (
    <span>
      <span className="status">
        <span className={`status-dot ${isBehind ? 'warn' : 'good'}`} aria-hidden />
        {isBehind ? t('node.behind', { count: number(node.behind) }) : t('node.upToDate')}
      </span>
      <span className="cell-note">{t('node.sequence', { seq: number(node.appliedSeq) })}</span>
    </span>
  );
}

export function Refusals({ node }: { node: Node }) {
  return (
    <ul className="refusals">
      {node.refused.map(one => (
        <li key={`${one.subject} ${one.seq}`}>
          <strong className="mono">{one.subject}</strong> <span className="ink-3">#{number(one.seq)}</span>
          <div className="bad">{one.why}</div>
        </li>
      ))}
    </ul>
  );
}

/** Something that is not as it should be, and what, where one points. */
const Bad = ({ text, children }: { text: string; children: ReactNode }) => (
  <Popover trigger={['hover', 'click']} placement="bottomLeft" content={<div className="column-list">{children}</div>}>
    <button type="button" className="link status">
      <span className="status-dot bad" aria-hidden />
      {text}
    </button>
  </Popover>
);

export function Refused({ node }: { node: Node }) {
  if (node.refused.length === 0) return <span className="ink-3">{t('node.noRefusals')}</span>;
  return (
    <Bad text={t('node.refusals', { count: node.refused.length })}>
      <Refusals node={node} />
    </Bad>
  );
}

type SetAside = NonNullable<Node['aside']>;

export function SetAsideList({ aside }: { aside: SetAside }) {
  return (
    <ul className="refusals">
      {aside.map(one => (
        <li key={one.reason}>
          <strong>{t(`aside.${one.reason}`)}</strong> <span className="ink-3">{dateTime(one.lastAt)}</span>
          <div className="bad">
            {t(asideMessages.has(one.reason) ? 'node.asideMessages' : 'node.asideLines', { count: number(one.lines) })}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Lines and messages, each by its own word: one message holds many lines. */
function asideCounts(aside: SetAside): string {
  const sum = (isMessages: boolean) =>
    aside.reduce((all, one) => (asideMessages.has(one.reason) === isMessages ? all + one.lines : all), 0);
  const [lines, messages] = [sum(false), sum(true)];
  return [
    lines > 0 && t('node.asideLines', { count: number(lines) }),
    messages > 0 && t('node.asideMessages', { count: number(messages) }),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Lines that were set aside; nothing there is nothing to say, except that it is not known. */
export function SetAsideCount({ node: { aside } }: { node: Node }) {
  if (aside === null) return <span className="ink-3">{t('node.asideUnknown')}</span>;
  if (aside.length === 0) return <span className="ink-3">{t('node.noRefusals')}</span>;
  return (
    <Bad text={asideCounts(aside)}>
      <SetAsideList aside={aside} />
    </Bad>
  );
}
