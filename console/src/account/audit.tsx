/** The audit: who did or tried what, with what it changed field by field. */
import './audit.css';
import { auditMethods } from '#contract/states-audit.ts';
import { useQuery } from '@tanstack/react-query';
import { Drawer, Skeleton, Tag } from 'antd';
import { useEffect, useState } from 'react';
import { Facts } from '../kit/bits.tsx';
import { type AnswerOf, call, type RowOf } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { ErrorState } from '../kit/empty.tsx';
import type { ListState } from '../kit/list-state.ts';
import { options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { AnswerStatus } from '../kit/status.tsx';
import { loadTexts, type Part, t, tOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { valueText } from '../kit/value-text.ts';
import { fieldName, reasonText } from './audit-words.ts';

type Line = RowOf<'POST /{area}/auditLogs'>;
type Change = NonNullable<AnswerOf<'POST /{area}/auditLogs'>['data'][number]['changes']>[number];

/** Of accounts, where one is known; who is unknown tried to sign in. */
const who = (line: Line) => line.accountName ?? t('audit.nobody');
const proxy = (line: Line) => line.proxyName ?? (line.proxyArea ? t(`auth.${line.proxyArea}`) : null);

function Who({ line }: { line: Line }) {
  const by = proxy(line);
  return (
    <span>
      {who(line)}
      {by && <span className="cell-note">{t('audit.by', { name: by })}</span>}
      {line.tokenName && <span className="cell-note">{t('audit.token', { name: line.tokenName })}</span>}
    </span>
  );
}

function Result({ line }: { line: Line }) {
  if (line.status === null) return <span className="ink-3">–</span>;
  return <AnswerStatus status={line.status} />;
}

/** The filters are the body of the call; a page of it is its query. */
const input = ({ page, pageSize, sortBy, orderBy, filters }: ListState) => ({
  query: { page, pageSize, ...(sortBy && orderBy ? { sortBy, orderBy } : {}) },
  body: filters,
});

/** As a file: all that is found, with what each line changed. */
const fileInput = ({ orderBy, filters }: ListState) => ({ query: orderBy ? { orderBy } : {}, body: filters });

const audit = resource<'POST /{area}/auditLogs'>({
  name: 'audit',
  list: 'POST /{area}/auditLogs',
  input,
  file: { call: 'POST /{area}/auditLogs/export', input: fileInput, note: 'auditFile' },
  defaultSort: '-createdAt',
  rowName: line => line.reqID,
  columns: [
    { name: 'createdAt', label: 'time', kind: 'time', sort: true, width: 170, link: 'open' },
    { name: 'accountName', label: 'account', width: 220, render: line => <Who line={line} /> },
    { name: 'method', width: 90, kind: 'mono' },
    { name: 'url', width: 320, render: line => <span className="mono">{line.url.replace('/api/v1', '')}</span> },
    { name: 'status', label: 'result', width: 90, render: line => <Result line={line} /> },
    { name: 'reason', label: 'auditReason', width: 190, render: line => <Reason line={line} /> },
    { name: 'ip', kind: 'mono', width: 130 },
    { name: 'proxyName', width: 200, isOptional: true, render: line => proxy(line) ?? '–' },
    { name: 'tokenName', width: 140, isOptional: true },
    { name: 'reqID', kind: 'mono', isOptional: true },
  ],
  filters: [
    { name: 'accountName', kind: 'search' },
    { name: 'startTime', kind: 'range' },
    { name: 'method', kind: 'select', ...options(auditMethods, 'auditMethod') },
    { name: 'url', kind: 'text' },
    { name: 'proxyName', kind: 'text' },
    { name: 'reqID', kind: 'text' },
  ],
  actions: [{ name: 'open', run: ([line], { edit }) => edit(line!.id) }],
  drawer: (line, { onClose }) => <Detail line={line} onClose={onClose} />,
});

function Reason({ line }: { line: Line }) {
  return (
    <span>
      {reasonText(line.reason)}
      {line.times !== null && <span className="cell-note">{t('audit.times', { count: line.times })}</span>}
    </span>
  );
}

function Detail({ line, onClose }: { line: Line; onClose: () => void }) {
  const found = useQuery({
    queryKey: ['audit', line.reqID, line.id],
    queryFn: ({ signal }) =>
      call('POST /{area}/auditLogs', { query: { pageSize: 500 }, body: { reqID: line.reqID } }, { signal }),
  });
  const whole = found.data?.data.find(one => one.id === line.id);
  const hasWords = useFieldWords(!!whole?.changes?.length);
  const by = proxy(line);
  const mono = (text: string) => (
    <span className="mono audit-value">
      {text} <CopyButton text={text} />
    </span>
  );
  return (
    <Drawer
      open
      className="audit-detail"
      size={720}
      title={`${line.method} ${line.url.replace('/api/v1', '')}`}
      mask={{ blur: false }}
      onClose={onClose}
    >
      <Facts
        facts={[
          [t('field.time'), dateTime(line.createdAt)],
          [t('field.account'), who(line)],
          ...(by ? [[t('field.proxyName'), by] as const] : []),
          ...(line.tokenName ? [[t('field.tokenName'), line.tokenName] as const] : []),
          [
            t('field.result'),
            <span key="result">
              <Result line={line} />
            </span>,
          ],
          ...(line.reason ? [[t('field.auditReason'), reasonText(line.reason)] as const] : []),
          ...(line.times === null
            ? []
            : [[t('field.times'), t('audit.timesUntil', { count: line.times, time: dateTime(line.lastAt) })] as const]),
          [t('field.ip'), mono(line.ip)],
          [t('field.url'), mono(line.url)],
          [t('field.reqID'), mono(line.reqID)],
        ]}
      />
      {found.error && !whole ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : !found.data || !hasWords ? (
        <Skeleton active title={false} paragraph={{ rows: 6 }} />
      ) : (
        <>
          <h3>{t('audit.changes')}</h3>
          {whole?.changes?.length ? (
            whole.changes.map((change, index) => <ChangeTable key={index} change={change} />)
          ) : (
            <p className="ink-3">{t('audit.nothing')}</p>
          )}
          {whole?.body !== undefined && whole.body !== null && (
            <>
              <h3>{t('audit.body')}</h3>
              <pre className="audit-body" tabIndex={0} role="group" aria-label={t('audit.body')}>
                {typeof whole.body === 'string' ? whole.body : JSON.stringify(whole.body, null, 2)}
              </pre>
            </>
          )}
        </>
      )}
    </Drawer>
  );
}

/** Values as they are kept: what a table holds, read by whoever looks into it. */
const shown = (value: unknown) =>
  // one below the other: two columns of a telephone have no room for brackets
  Array.isArray(value) && value.length > 0 && value.every(one => typeof one !== 'object')
    ? value.map(String).join('\n')
    : value !== null && typeof value === 'object'
      ? JSON.stringify(value, null, 1)
      : valueText(undefined, value);

/** By its word, and by the name that programs and the file of the audit have for it. */
function Field({ name }: { name: string }) {
  const word = fieldName(name);
  return (
    <>
      {word}
      {word !== name && <span className="cell-note mono">{name}</span>}
    </>
  );
}

/** Folders whose fields stand in changes; the other words are there already. */
const parts = ['site', 'node', 'resolution', 'traffic', 'licence', 'system'] as const satisfies readonly Part[];
/** Whether the words of fields have come, or cannot. */
function useFieldWords(isAsked: boolean): boolean {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (isAsked) void Promise.allSettled(parts.map(loadTexts)).then(() => setDone(true));
  }, [isAsked]);
  return isDone || !isAsked;
}

function ChangeTable({ change }: { change: Change }) {
  const { table, id, kind, count, fields, isWhole } = change;
  return (
    <section className="audit-change">
      <h4>
        <Tag>{t(`auditKind.${kind}`)}</Tag> {tOf('auditTable', table)} <span className="ink-3 mono">{table}</span>{' '}
        {id === null ? t('audit.rows', { count }) : `#${id}`}
      </h4>
      {!isWhole && <p className="ink-3">{t('audit.noRoom')}</p>}
      {fields.length > 0 && (
        <div className="audit-fields">
          <table>
            <thead>
              <tr>
                <th scope="col">{t('audit.field')}</th>
                {kind !== 'added' && <th scope="col">{t('audit.before')}</th>}
                {kind !== 'removed' && <th scope="col">{t('audit.after')}</th>}
              </tr>
            </thead>
            <tbody>
              {fields.map(field => (
                <tr key={field.name}>
                  <th scope="row">
                    <Field name={field.name} />
                  </th>
                  {kind !== 'added' && <td className="audit-before">{shown(field.before)}</td>}
                  {kind !== 'removed' && <td className="audit-after">{shown(field.after)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

export default function LogOperation() {
  return <ResourcePage resource={audit} />;
}
