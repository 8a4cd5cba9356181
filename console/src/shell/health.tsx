/** What is wrong, since when, and what to do: the worst in one strip above every page, the rest on demand. Nothing when all is well. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { statusPollMs } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import { query, queryClient } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const asked = query('GET /{area}/systemHealth');
/** What was asked before the shell stood; nothing where there was no answer in time. */
export const setHealth = (answer: unknown) =>
  answer && queryClient.setQueryData(asked.queryKey, answer as AnswerOf<'GET /{area}/systemHealth'>);

export function HealthBanner() {
  const { data } = useQuery({
    ...asked,
    staleTime: 0,
    refetchInterval: statusPollMs,
    // a call that fails is told by whoever needed it
    retry: false,
  });
  const [isOpen, setOpen] = useState(false);
  if (!data?.troubles.length) return null;
  const shown = isOpen ? data.troubles : data.troubles.slice(0, 1);
  const more = data.troubles.length - 1;
  return (
    <section className={`health health-${data.state}`} aria-label={t('health.title')}>
      {/* read out when it appears or changes, without taking anybody's focus */}
      <div role="status">
        <ul className="health-list">
          {shown.map(trouble => (
            <li key={`${trouble.check} ${trouble.key}`} className={`health-${trouble.state}`}>
              <span className="health-dot" aria-hidden />
              <span>
                <strong>{trouble.sentence}</strong>{' '}
                <time className="health-since" dateTime={trouble.since}>
                  {t('health.since', { time: dateTime(trouble.since) })}
                </time>
                <span className="health-advice">{trouble.advice}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
      {more > 0 && (
        <button type="button" className="health-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('health.less') : t('health.more', { count: more })}
        </button>
      )}
    </section>
  );
}
