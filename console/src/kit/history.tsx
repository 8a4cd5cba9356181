/** What became of a row: who changed which of its fields, when, from what to what; and its older values, back into the form. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { isHidden } from '#contract/kit/hidden.ts';
import { ofArea } from './of-area.ts';
import { useChoices } from './choices.ts';
import { type AnswerOf, call } from './client.ts';
import { diffLines, folded } from './diff.ts';
import { Empty, ErrorState } from './empty.tsx';
import type { HistoryOf } from './history-of.ts';
import type { Column, FormField, Params, RemoteChoices, Values } from './resource.ts';
import { t, textOf, tOf } from './text.ts';
import { dateTime } from './time.ts';
import { valueText } from './value-text.ts';

export type Entry = AnswerOf<'GET /{area}/history'>['data'][number];
const pageSize = 20;

interface Props {
  of: HistoryOf;
  fields: readonly FormField[];
  params: Params;
  /** Puts values into the form; left out where there is none. */
  onRestore?: (older: Values) => void;
}

export default function HistoryPanel({ of: { resource, id, columns }, fields, params, onRestore }: Props) {
  const found = useInfiniteQuery({
    queryKey: ['history', resource, id],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /{area}/history',
        { query: { resource, ...(id === undefined ? {} : { id }), page: pageParam, pageSize } },
        { signal },
      ),
    getNextPageParam: (last, pages) => (pages.length * pageSize < last.total ? pages.length + 1 : undefined),
  });
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton active title={false} paragraph={{ rows: 6 }} />;
  const entries = found.data.pages.flatMap(page => page.data);
  if (!entries.length)
    return (
      <Empty drawing="nothing" title={t('history.none')}>
        {t('history.noneText')}
      </Empty>
    );
  return (
    <section className="history" aria-label={t('history.tab')}>
      <ol>
        {entries.map(entry => (
          <li key={entry.reqID}>
            <header>
              <b>{t(`history.${entry.kind}`)}</b>
              <time dateTime={entry.at}>{dateTime(entry.at)}</time>
              <span className="history-by">{who(entry)}</span>
            </header>
            {!entry.isWhole ? (
              <p className="ink-3">{t('history.cut')}</p>
            ) : (
              !entry.fields.length && <p className="ink-3">{t('history.unseen')}</p>
            )}
            {entry.fields.map(one => (
              <FieldDiff
                key={one.name}
                change={one}
                kind={entry.kind}
                field={fields.find(field => field.name === one.name)}
                column={columns?.find(column => column.name === one.name)}
                params={params}
              />
            ))}
            <PutBack entry={entry} fields={fields} onRestore={onRestore} />
          </li>
        ))}
      </ol>
      {found.hasNextPage ? (
        <Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t('history.older')}
        </Button>
      ) : (
        entries.at(-1)!.kind !== 'added' && <p className="ink-3">{t('history.kept')}</p>
      )}
    </section>
  );
}

function who({ by, isProxy, proxy }: Entry): string {
  if (by === null) return t(ofArea({ user: 'history.operator', client: 'history.unknown', admin: 'history.unknown' }));
  if (!isProxy) return by;
  return proxy === null ? t('history.proxyOperator', { by }) : t('history.proxyBy', { by, proxy });
}

/** A secret is in no history: what holds one cannot be put back. */
export const holdsSecret = (value: unknown): boolean =>
  isHidden(value) || (typeof value === 'object' && value !== null && Object.values(value).some(holdsSecret));

function PutBack({ entry, fields, onRestore }: { entry: Entry; fields: readonly FormField[]; onRestore: Props['onRestore'] }) {
  if (!onRestore || entry.kind !== 'changed') return null;
  const older = entry.fields.filter(
    ({ name, before }) => fields.some(field => field.name === name && field.only !== 'create') && !holdsSecret(before),
  );
  if (!older.length) return null;
  return (
    <Button size="small" onClick={() => onRestore(Object.fromEntries(older.map(({ name, before }) => [name, before])))}>
      {t('history.putBack')}
    </Button>
  );
}

interface DiffProps {
  change: Entry['fields'][number];
  kind: Entry['kind'];
  field: FormField | undefined;
  column: Column<never> | undefined;
  params: Params;
}

function FieldDiff({ change: { name, before, after }, kind, field, column, params }: DiffProps) {
  const choices = useChoices(field && 'from' in field ? (field as RemoteChoices) : { values: [] }, params).options;
  const text = (value: unknown): string => {
    if (Array.isArray(value) && value.length && choices.length) return value.map(text).join('\n');
    const chosen = choices.find(choice => choice.value === value)?.label;
    if (chosen !== undefined) return chosen;
    if (!field && (column?.kind === 'option' || column?.kind === 'status') && typeof value === 'string')
      return tOf(column.texts ?? (column.kind === 'status' ? 'state' : name), value);
    if (!field && column?.kind === 'time' && typeof value === 'string') return dateTime(value);
    // a setting whose value stayed, and is another level's now
    if (!field && name === 'from' && typeof value === 'string') return textOf(`settingSource.${value}`) ?? value;
    return valueText(field, value);
  };
  const label = textOf(`field.${field?.label ?? column?.label ?? name}`) ?? name;
  // a list says what came and what went; a value what it was and what it is
  const linesOf = (value: unknown) => text(value).split('\n');
  const lines =
    kind === 'changed'
      ? folded(diffLines(linesOf(before), linesOf(after)))
      : linesOf(kind === 'added' ? after : before).map(line => ({ kind: 'same', text: line }) as const);
  return (
    <div className="history-field" data-changed={name}>
      <b>{label}</b>
      <div className="diff">
        {lines.map((line, index) =>
          line.kind === 'hidden' ? (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other name, and never move
            <span key={index} className="diff-hidden">
              {t('history.same', { count: line.count })}
            </span>
          ) : (
            // oxlint-disable-next-line react/no-array-index-key -- the same
            <span key={index} className={`diff-${line.kind}`}>
              <Line kind={line.kind} text={line.text} />
            </span>
          ),
        )}
      </div>
    </div>
  );
}

/** What is gone and what is new also by a sign: colour alone tells nobody who does not see it. */
function Line({ kind, text }: { kind: 'same' | 'gone' | 'new'; text: string }) {
  if (kind === 'gone') return <del title={t('history.before')}>{text}</del>;
  if (kind === 'new') return <ins title={t('history.after')}>{text}</ins>;
  return text;
}
