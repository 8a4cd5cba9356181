/** The documentation of the API out of its own OpenAPI document: what there is, what one may call oneself, and a try with one's own token. */
import './api-doc.css';
import { ArrowLeftOutlined, SearchOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { Button, Input, Segmented, Skeleton, Switch, Tag } from 'antd';
import { useMemo, useState } from 'react';
import { call as ask } from '../kit/client.ts';
import { area } from '../kit/area.ts';
import { CopyButton } from '../kit/copy.tsx';
import { saveFile } from '../kit/csv.ts';
import { Empty, ErrorState } from '../kit/empty.tsx';
import { Page } from '../kit/page.tsx';
import { asSearch } from '../kit/search.ts';
import { linkTo } from '../kit/screens.ts';
import { useSelf } from '../kit/session.ts';
import { t, textOf, tOf } from '../kit/text.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { Code, parsed, Try } from './api-try.tsx';
import { type SampleLanguage, sampleLanguages, sampleOf } from './api-samples.ts';
import {
  type ApiDocument,
  bodySchema,
  type Call,
  callsOf,
  canTry,
  exampleOf,
  type FieldLine,
  fieldLines,
  headersOf,
  type Schema,
  typeOf,
  urlOf,
} from './api-schema.ts';

const base = `${location.origin}/api/v1`;
/** The server made it from the table of calls. */
const documentOf = (text: string): ApiDocument => JSON.parse(text);
/** `101003 Parameter Error; 101008 …`: the document is of programs and in English, the catalogue has each code's text in the reader's language. */
const errorsIn = (description: string) =>
  description.replaceAll(/\b(\d{4,8}) [^;]+/g, (whole, code: string) => {
    const text = textOf(`error.${code}`);
    return text === undefined ? whole : `${code} ${text}`;
  });
const groupName = (tag: string) => tOf('resource', tag, tOf('apiGroup', tag, tag));

export default function ApiDoc() {
  const answer = useQuery({
    queryKey: ['apiDoc'],
    queryFn: async () => String(await ask('GET /{area}/apiDoc')),
    // it changes with a release alone
    staleTime: Infinity,
  });
  const document = useMemo(() => answer.data && documentOf(answer.data), [answer.data]);
  const save = () => saveFile(`breakwater-${area}-openapi.json`, new Blob([answer.data ?? ''], { type: 'application/json' }));
  return (
    <Page
      note={t('apiDoc.note')}
      actions={
        <Button disabled={!answer.data} onClick={save}>
          {t('apiDoc.download')}
        </Button>
      }
    >
      {answer.error ? (
        <div className="panel">
          <ErrorState error={answer.error} onRetry={() => void answer.refetch()} />
        </div>
      ) : document ? (
        <Documentation document={document} />
      ) : (
        <div className="panel panel-padded">
          <Skeleton active paragraph={{ rows: 12 }} />
        </div>
      )}
    </Page>
  );
}

function Documentation({ document }: { document: ApiDocument }) {
  const { selfPerms } = useSelf();
  const chosen = new URLSearchParams(useLocation().searchStr).get('call');
  const [word, setWord] = useState('');
  const [isMine, setMine] = useState(true);
  const isNarrow = useNarrow();
  const all = useMemo(() => callsOf(document), [document]);
  const may = ({ operation }: Call) => !operation['x-permission'] || selfPerms.includes(operation['x-permission']);
  const words = word.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter(one => {
    const text = `${one.key} ${groupName(one.operation.tags[0]!)}`.toLowerCase();
    return (!isMine || may(one)) && words.every(each => text.includes(each));
  });
  const groups = [...Map.groupBy(shown, one => one.operation.tags[0]!)];
  const current = all.find(one => one.key === chosen) ?? (isNarrow ? undefined : shown[0]);
  return (
    <div className="api-doc">
      {!(isNarrow && current) && (
        <nav className="panel api-doc-list" aria-label={t('apiDoc.calls')}>
          <div className="api-doc-tools">
            <Input
              allowClear
              type="search"
              prefix={<SearchOutlined className="ink-3" />}
              aria-label={t('apiDoc.search')}
              placeholder={t('apiDoc.search')}
              value={word}
              onChange={event => setWord(event.target.value)}
            />
            <label className="api-doc-mine">
              <Switch size="small" checked={isMine} onChange={setMine} /> {t('apiDoc.mine')}
              <span className="ink-3 grow" aria-live="polite">
                {t('role.held', { count: shown.length, total: all.length })}
              </span>
            </label>
          </div>
          {groups.length === 0 && <Empty drawing="noMatch" title={t('apiDoc.none')} />}
          {groups.map(([tag, calls]) => (
            <section key={tag} aria-label={groupName(tag)}>
              <h2>{groupName(tag)}</h2>
              <ul>
                {calls.map(one => (
                  <li key={one.key}>
                    <Link
                      to={linkTo('apiDoc')!}
                      search={asSearch({ call: one.key })}
                      aria-current={one === current ? 'page' : undefined}
                    >
                      <Method name={one.method} />
                      <span>{one.path.slice(area.length + 1) || '/'}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
      )}
      {current && (
        <article className="panel api-doc-call">
          {isNarrow && (
            <Link to={linkTo('apiDoc')!} className="api-doc-back">
              <ArrowLeftOutlined /> {t('apiDoc.calls')}
            </Link>
          )}
          <OneCall key={current.key} call={current} may={may(current)} />
        </article>
      )}
    </div>
  );
}

const Method = ({ name }: { name: string }) => <span className={`api-method api-method-${name.toLowerCase()}`}>{name}</span>;

function OneCall({ call, may }: { call: Call; may: boolean }) {
  const { operation } = call;
  const body = bodySchema(operation);
  const answer = Object.values(operation.responses['200']?.content ?? {})[0]?.schema;
  const [values, setValues] = useState<Record<string, string>>({});
  const [text, setText] = useState(() => (body ? JSON.stringify(exampleOf(body), null, 2) : ''));
  const errors = Object.entries(operation.responses).filter(([status]) => status !== '200');
  const permission = operation['x-permission'];
  return (
    <>
      <header className="api-call-head">
        <h2>
          <Method name={call.method} /> <code>{call.path}</code>
        </h2>
        <CopyButton text={`${base}${call.path}`} />
      </header>
      <p className="api-call-tags">
        {permission && (
          <Tag>
            {t('apiDoc.permission', { name: groupName(permission.split('.')[0]!) })} <code>{permission}</code>
          </Tag>
        )}
        {!may && <span className="ink-3">{t('apiDoc.notYours')}</span>}
        {operation['x-person'] && <Tag>{t('apiDoc.person')}</Tag>}
      </p>
      <Fields
        title={t('apiDoc.parameters')}
        lines={operation.parameters.map(({ name, required, schema, in: where }) => ({
          path: where === 'path' ? `{${name}}` : where === 'query' ? `?${name}` : `${name}:`,
          type: typeOf(schema),
          isRequired: required,
        }))}
      />
      {body && <Fields title={t('apiDoc.body')} lines={fieldLines(body)} />}
      {operation.requestBody?.content['multipart/form-data'] && (
        <Fields title={t('apiDoc.form')} lines={fieldLines(operation.requestBody.content['multipart/form-data'].schema)} />
      )}
      <Samples call={call} values={values} text={text} />
      {answer && <Answer schema={answer} />}
      <section>
        <h3>{t('apiDoc.errors')}</h3>
        <dl className="api-errors">
          {errors.map(([status, { description }]) => (
            <div key={status}>
              <dt>{status}</dt>
              <dd>{errorsIn(description)}</dd>
            </div>
          ))}
        </dl>
      </section>
      {canTry(operation) && !operation['x-person'] && operation.security.length > 0 && (
        <Try call={call} values={values} setValues={setValues} text={text} setText={setText} hasBody={!!body} />
      )}
    </>
  );
}

function Fields({ title, lines }: { title: string; lines: readonly FieldLine[] }) {
  if (!lines.length) return null;
  return (
    <section>
      <h3>{title}</h3>
      <div className="api-fields" tabIndex={0} role="group" aria-label={title}>
        <table>
          <tbody>
            {lines.map(line => (
              <tr key={line.path}>
                <th scope="row">
                  <code>{line.path}</code>
                  {line.isRequired && <span className="api-required">{t('apiDoc.required')}</span>}
                </th>
                <td>{line.type}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Answer({ schema }: { schema: Schema }) {
  const lines = fieldLines(schema);
  return lines.length ? <Fields title={t('apiDoc.answer')} lines={lines.map(line => ({ ...line, isRequired: false }))} /> : null;
}

function Samples({ call, values, text }: { call: Call; values: Record<string, string>; text: string }) {
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const body = text ? parsed(text) : undefined;
  const sample = sampleOf(language, {
    method: call.method,
    url: urlOf(base, call, values),
    headers: headersOf(call, values),
    ...(body === undefined ? {} : { body }),
  });
  return (
    <section>
      <h3>{t('apiDoc.sample')}</h3>
      <div className="api-sample-head">
        <Segmented
          aria-label={t('apiDoc.sample')}
          value={language}
          onChange={setLanguage}
          options={sampleLanguages.map(one => ({ value: one, label: t(`sampleLanguage.${one}`) }))}
        />
        <CopyButton text={sample} label={t('action.copy')} />
      </div>
      <Code text={sample} label={t('apiDoc.sample')} />
    </section>
  );
}
