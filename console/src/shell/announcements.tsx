/** What one's operator has to say, in a strip above every page until it is dismissed here. Asked with the shell, so nothing jumps. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { display } from '#contract/limits-start.ts';
import type { AnswerOf } from '../kit/client.ts';
import { inPlace } from '../kit/later.tsx';
import { ofArea } from '../kit/of-area.ts';
import { query, queryClient } from '../kit/query.ts';
import { withTexts } from '../kit/screens.ts';
import { stored } from '../kit/stored.ts';

const key = 'GET /user/announcements';
const asked = query(key, { query: { pageSize: display.announcementsMax } });
export const setAnnouncements = (answer: unknown) =>
  // as that very call answered
  answer && queryClient.setQueryData(asked.queryKey, answer as AnswerOf<typeof key>);

const gone = stored('announcementsRead');
/** One that was changed is another one. */
const nameOf = ({ id, version }: { id: number; version: number }) => `${id}.${version}`;
const Strip = inPlace(withTexts('system', async () => (await import('./announcement-strip.tsx')).AnnouncementStrip));
/** An operator's customers are told, nobody else. */
const isCustomer = ofArea({ user: true, client: false, admin: false });
const pollMs = 300_000;

export function Announcements() {
  const { data } = useQuery({ ...asked, enabled: isCustomer, staleTime: pollMs, refetchInterval: pollMs, retry: false });
  const [read, setRead] = useState(() => new Set((gone.get() ?? '').split(' ')));
  const rows = (data?.data ?? []).filter(row => !read.has(nameOf(row)));
  if (!rows.length) return null;
  const dismiss = (row: { id: number; version: number }) => {
    // what is no longer told needs no remembering
    const still = (data?.data ?? []).map(nameOf).filter(name => read.has(name));
    gone.set([...still, nameOf(row)].join(' '));
    setRead(new Set([...still, nameOf(row)]));
  };
  return <Strip rows={rows} onDismiss={dismiss} meanwhile={<div className="announcement-room" aria-busy />} />;
}
