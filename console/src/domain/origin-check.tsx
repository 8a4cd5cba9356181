/** Whether nodes ask the origins of a domain how they are, and what each node last saw; how long origins are waited for. */
import { useQuery } from '@tanstack/react-query';
import { originCheckTypes } from '#contract/limits.ts';
import { Status } from '../kit/bits.tsx';
import type { AnswerOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { historyOfSetting } from '../kit/history-of.ts';
import { query } from '../kit/query.ts';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';

const read = 'GET /{area}/site/{siteID}/domain/{domainID}/originCheck';
const states = 'GET /{area}/site/{siteID}/domain/{domainID}/originStates';
const pollMs = 5000;
const isOn = (values: Values) => values['type'] !== 'off';
const isHTTP = (values: Values) => values['type'] === 'http';
const fields: FormField[] = [
  { name: 'type', label: 'checkType', kind: 'segments', ...options(originCheckTypes, 'originCheckType'), help: 'originCheck' },
  { name: 'path', kind: 'mono', when: isHTTP },
  { name: 'status', label: 'checkStatus', kind: 'number', when: isHTTP, help: 'checkStatus' },
  { name: 'interval', kind: 'number', unit: 'seconds', when: isOn },
  { name: 'timeout', kind: 'number', unit: 'seconds', when: isOn },
  { name: 'fall', kind: 'number', when: isOn, help: 'fall' },
  { name: 'rise', kind: 'number', when: isOn, help: 'rise' },
];

interface Props {
  domain: { id: number; domainName: string };
  siteID: number;
  onClose: () => void;
}

const statusOf = { up: 'success', down: 'error', unknown: 'unknown' } as const;

function States({ nodes }: AnswerOf<typeof states>) {
  return (
    <section className="origin-states" aria-label={t('originCheck.states')}>
      <h3>{t('originCheck.states')}</h3>
      {nodes.length === 0 && <p className="ink-2">{t('originCheck.noNodes')}</p>}
      <ul>
        {nodes.flatMap(node =>
          node.origins.map(one => (
            <li key={`${node.nodeID} ${one.address} ${one.port} ${one.error}`}>
              {node.name} → <span className="mono">{`${one.address}:${one.port}`}</span>{' '}
              <Status value={statusOf[one.state]} texts="originState" /> {one.error && <span className="mono">{one.error}</span>}{' '}
              {one.since && <span className="ink-3">{dateTime(one.since)}</span>}
            </li>
          )),
        )}
      </ul>
    </section>
  );
}
export function OriginCheckForm({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const found = useQuery({ ...query(read, at), staleTime: Infinity, gcTime: 0 });
  const seen = useQuery({ ...query(states, at), refetchInterval: pollMs });
  if (!found.data) return null;
  const { version, from: _from, above: _above, ...values } = found.data;
  return (
    <ResourceForm
      title={`${domain.domainName} · ${t('action.originCheck')}`}
      call="PUT /{area}/site/{siteID}/domain/{domainID}/originCheck"
      params={at}
      fields={fields}
      values={values}
      body={changed => ({ ...values, ...changed })}
      isEdit
      version={version}
      history={historyOfSetting(read, at)}
      success={t('message.updateSuccess')}
      onClose={onClose}
    >
      {seen.data && <States nodes={seen.data.nodes} />}
    </ResourceForm>
  );
}

const readTimeouts = 'GET /{area}/site/{siteID}/domain/{domainID}/originTimeouts';
const timeoutFields: FormField[] = [
  { name: 'connect', kind: 'number', unit: 'seconds', help: 'connect' },
  { name: 'read', kind: 'number', unit: 'seconds', help: 'read' },
  { name: 'send', kind: 'number', unit: 'seconds', help: 'send' },
];

export function OriginTimeoutsForm({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const found = useQuery({ ...query(readTimeouts, at), staleTime: Infinity, gcTime: 0 });
  if (!found.data) return null;
  const { connect, read: answer, send, version } = found.data;
  return (
    <ResourceForm
      title={`${domain.domainName} · ${t('action.originTimeouts')}`}
      call="PUT /{area}/site/{siteID}/domain/{domainID}/originTimeouts"
      params={at}
      fields={timeoutFields}
      values={{ connect, read: answer, send }}
      body={changed => ({ connect, read: answer, send, ...changed })}
      isEdit
      version={version}
      history={historyOfSetting(readTimeouts, at)}
      success={t('message.updateSuccess')}
      onClose={onClose}
    />
  );
}
