/** What would be written into a CNAME zone now, and what others have there: read anew each time, and nothing is written. */
import { useQuery } from '@tanstack/react-query';
import { Table } from 'antd';
import { AskedNow } from '../kit/asked-now.tsx';
import { call, type AnswerOf } from '../kit/client.ts';
import { Empty } from '../kit/empty.tsx';
import { unkept } from '../kit/query.ts';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { useNarrow } from '../kit/use-narrow.ts';

export const previewing = 'POST /client/setting/dns/cname/preview';
type Said = AnswerOf<typeof previewing>;
type Row = Said['rows'][number];

const widthPx = 860;
const tones = { add: 'good', change: 'warn', remove: 'bad', foreign: 'idle' } as const;

/** Somebody else's doing, where it is. */
function noteOf({ change, isByHand, isInTheWay }: Row): string | undefined {
  if (isInTheWay) return t('dryRun.inTheWay');
  if (!isByHand || change === 'foreign') return undefined;
  return t(`dryRunByHand.${change}`);
}

function What({ row }: { row: Row }) {
  const note = noteOf(row);
  return (
    <>
      <Toned tone={row.isInTheWay ? 'bad' : tones[row.change]}>{t(`dryRunChange.${row.change}`)}</Toned>
      {note !== undefined && <span className="cell-note">{note}</span>}
    </>
  );
}

function Whose({ row }: { row: Row }) {
  return (
    <>
      <span className="mono">{row.name}</span>
      {row.of !== '' && row.kind !== 'other' && (
        <span className="cell-note">{t(`dryRunKind.${row.kind}`, { name: row.of })}</span>
      )}
    </>
  );
}

function Values({ all }: { all: readonly string[] }) {
  if (!all.length) return <span className="ink-3">—</span>;
  return (
    <span className="address-list">
      {all.map((one, i) => (
        <span key={`${i} ${one}`} className="mono">
          {one}
        </span>
      ))}
    </span>
  );
}

const isAlike = ({ change, there, wanted }: Row) => change === 'change' && there.length > 0 && String(there) === String(wanted);
function Then({ row }: { row: Row }) {
  if (row.change === 'foreign') return <span className="ink-3">{t('dryRun.stays')}</span>;
  return isAlike(row) ? <span className="ink-2">{t('dryRun.alike')}</span> : <Values all={row.wanted} />;
}

function Told({ said }: { said: Said }) {
  const isNarrow = useNarrow();
  const { counts, rows } = said;
  const all = counts.add + counts.change + counts.remove + counts.foreign;
  const isSettled = all === counts.foreign;
  const what = {
    title: t('dryRun.what'),
    key: 'what',
    width: isNarrow ? 110 : 150,
    render: (_: unknown, row: Row) => <What row={row} />,
  };
  const wide = [
    what,
    { title: t('dryRun.name'), key: 'name', render: (_: unknown, row: Row) => <Whose row={row} /> },
    { title: t('dryRun.there'), key: 'there', render: (_: unknown, row: Row) => <Values all={row.there} /> },
    { title: t('dryRun.then'), key: 'then', render: (_: unknown, row: Row) => <Then row={row} /> },
  ];
  const tall = [
    what,
    {
      title: t('dryRun.name'),
      key: 'name',
      render: (_: unknown, row: Row) => (
        <>
          <Whose row={row} />
          <span className="cell-note">{t('dryRun.there')}</span>
          <Values all={row.there} />
          <span className="cell-note">{t('dryRun.then')}</span>
          <Then row={row} />
        </>
      ),
    },
  ];
  return (
    <>
      {isSettled && (
        <Empty drawing="nothing" title={t('dryRun.settled')}>
          {t('dryRun.settledText')}
        </Empty>
      )}
      {!isSettled && (
        <p>
          {t('dryRun.counts', { add: number(counts.add), change: number(counts.change), remove: number(counts.remove) })}{' '}
          {t('dryRun.nothingYet')}
        </p>
      )}
      {counts.foreign > 0 && <p className="ink-2">{t('dryRun.foreign', { count: number(counts.foreign) })}</p>}
      {rows.length > 0 && (
        <Table<Row>
          className="plain-table"
          style={{ marginTop: 12 }}
          size="small"
          pagination={false}
          tableLayout="fixed"
          rowKey={row => `${row.change} ${row.name} ${row.there.join(' ')}`}
          dataSource={rows}
          columns={isNarrow ? tall : wide}
        />
      )}
      {rows.length < all && <p className="ink-3">{t('dryRun.some', { shown: number(rows.length), count: number(all) })}</p>}
    </>
  );
}

export function DryRun({ id, name, onClose }: { id: number; name: string; onClose: () => void }) {
  const asked = useQuery<Said>({
    queryKey: [previewing, id],
    queryFn: ({ signal }) => call(previewing, { body: { id } }, { signal }),
    ...unkept,
  });
  return (
    <AskedNow title={t('dryRun.title', { name })} widthPx={widthPx} asked={asked} again={t('dryRun.again')} onClose={onClose}>
      {said => <Told said={said} />}
    </AskedNow>
  );
}
