import { Members } from '../../src/kit/members.tsx';
import { t } from '../../src/kit/text.ts';
import { ApiError } from '../../src/kit/transport.ts';
import { site } from '../fake.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

type Props = Parameters<typeof Members>[0];
const people = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `person-${id}@example.com` }));
const members = (more: Pick<Props, 'members'> & Partial<Props>) => (
  <Members
    choices={{ from: 'GET /{area}/site/{siteID}/metaDomains' }}
    params={{ siteID: site.some }}
    label={t('list.search')}
    give={t('action.create')}
    take={t('action.remove')}
    empty={t('empty.nothing')}
    noChoices={t('empty.noMatch')}
    onGive={async () => true}
    onTake={async () => true}
    {...more}
  />
);

export default [
  { state: 'normal', show: () => members({ members: people(3) }) },
  { state: 'empty', show: () => members({ members: [] }) },
  { state: 'loading', show: () => members({ members: undefined }) },
  {
    state: 'failed',
    show: () =>
      members({ members: undefined, error: new ApiError({ code: 101001, message: '', status: 500 }), onRetry: () => {} }),
  },
  { state: 'disabled', show: () => members({ members: people(2).map(one => ({ ...one, why: say(long) })) }) },
  { state: 'long', show: () => members({ members: [{ id: 1, name: unbroken, note: say(long) }] }) },
  { state: 'many', show: () => members({ members: people(60) }) },
] satisfies Example[];
