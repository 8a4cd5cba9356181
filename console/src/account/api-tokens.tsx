/** API tokens: what programs act by. A new one is shown this once. */
import './api-doc.css';
import { Modal } from 'antd';
import { useRef } from 'react';
import { area } from '../kit/area.ts';
import { Tags } from '../kit/bits.tsx';
import { type AnswerOf, callAny, type RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { ofArea } from '../kit/of-area.ts';
import { useHold } from '../kit/leaving.ts';
import { NewButton } from '../kit/new-button.tsx';
import { overlay } from '../kit/overlay.ts';
import { useCan } from '../kit/permissions.ts';
import { SecretOnce } from '../kit/pieces.ts';
import { queryClient } from '../kit/query.ts';
import { type Column, type FormField, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { currentSelf, useSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { Until } from '../kit/until.tsx';
import { withLater } from '../kit/with-later.ts';
import { matrixField, summary } from './permission-matrix.tsx';

type Token = RowOf<'GET /{area}/apiTokens'>;
const makeCall = 'POST /{area}/apiToken';
type Made = AnswerOf<typeof makeCall>;

/** Both halves, shown this once: who has not said of both that they are kept does not lose them by a key or a press beside it. */
function Once({ name, made, onClose }: { name: string; made: Made; onClose: () => void }) {
  const left = useRef(2);
  useHold(() => left.current > 0);
  const kept = () => {
    if (--left.current === 0) onClose();
  };
  return (
    <Modal
      open
      width={680}
      title={t('token.title', { name })}
      mask={{ blur: false }}
      closable={false}
      keyboard={false}
      maskClosable={false}
      footer={null}
    >
      <div className="token-once">
        <h3>{t('token.access')}</h3>
        <SecretOnce label={t('token.access')} secret={made.token} fileName={`${name}.token`} onKept={kept} />
        <h3>{t('token.refresh')}</h3>
        <p className="ink-3">{t('token.refreshText', { path: `/api/v1/${area}` })}</p>
        <SecretOnce label={t('token.refresh')} secret={made.refreshToken} fileName={`${name}.refresh-token`} onKept={kept} />
      </div>
    </Modal>
  );
}

/** An admin has no sites. */
const site: FormField = {
  name: 'siteIDs',
  kind: 'remote',
  isMultiple: true,
  from: ofArea({ user: 'GET /user/metaSites', client: 'GET /client/metaSites' }),
  text: row => String(row['siteName']),
  help: 'tokenSites',
  initial: [],
};
const hasSites = ofArea({ user: true, client: true, admin: false });
const fields: FormField[] = [
  { name: 'name', kind: 'text' },
  {
    name: 'permissionKeys',
    kind: 'custom',
    initial: [],
    help: 'tokenKeys',
    render: matrixField,
  },
  ...(hasSites ? [site] : []),
  { name: 'networks', kind: 'lines', help: 'tokenNetworks', initial: [] },
  { name: 'expiredAt', kind: 'time', presets: ['day', 'month', 'year', 'never'], help: 'tokenExpiry', initial: null },
];
const bodyOf = ({ siteIDs, ...values }: Values): Values => ({
  ...values,
  siteIDs: Array.isArray(siteIDs) && siteIDs.length ? siteIDs : null,
});

/** Nothing is made before what shows it is here: its dialog has no other way out. */
const load = () => Promise.all([SecretOnce.load(), ResourceForm.load()]);
let opening: Promise<void> | undefined;
const createToken = () => (opening ??= withLater(load, () => void openForm()).finally(() => (opening = undefined)));
const openForm = () =>
  overlay(close => (
    <ResourceForm
      title={t('form.create', { name: t('noun.apiTokens') })}
      call={makeCall}
      params={{}}
      fields={fields}
      values={{ permissionKeys: [], siteIDs: [], networks: [], expiredAt: null }}
      body={bodyOf}
      send={async values => {
        const made = await callAny<Made>(makeCall, { body: bodyOf(values) });
        void queryClient.invalidateQueries();
        void overlay(done => <Once name={String(values['name'])} made={made} onClose={() => done()} />);
      }}
      isEdit={false}
      success={t('message.createSuccess')}
      onClose={() => close()}
    />
  ));

function CreateButton() {
  const can = useCan();
  const self = currentSelf();
  // a token would outlive the session that was opened for another
  if (!can(makeCall) || self?.proxyName) return null;
  return <NewButton onPress={() => void createToken()} />;
}

const apiTokensOf = (owner: Column<Token>[]) =>
  resource<'GET /{area}/apiTokens'>({
    name: 'apiTokens',
    list: 'GET /{area}/apiTokens',
    note: 'apiTokens',
    defaultSort: '-createdAt',
    rowName: token => token.name,
    columns: [
      { name: 'name', sort: true, width: 170 },
      { name: 'ending', kind: 'mono', width: 90, render: token => <code className="mono">…{token.ending}</code> },
      ...owner,
      {
        name: 'permissionKeys',
        width: 280,
        render: token => summary(token.permissionKeys) || <span className="ink-3">{t('token.noKeys')}</span>,
      },
      {
        name: 'siteIDs',
        width: 110,
        isOptional: !hasSites,
        render: token => (token.siteIDs === null ? t('token.all') : t('token.some', { count: token.siteIDs.length })),
      },
      {
        name: 'networks',
        width: 150,
        isOptional: true,
        render: token =>
          token.networks.length ? <Tags values={token.networks} /> : <span className="ink-3">{t('token.everywhere')}</span>,
      },
      {
        name: 'expiredAt',
        kind: 'until',
        sort: true,
        width: 130,
        render: ({ expiredAt }) =>
          expiredAt === null ? <span className="ink-3">{t('token.forever')}</span> : <Until time={expiredAt} />,
      },
      {
        name: 'lastUsedAt',
        kind: 'time',
        sort: true,
        width: 160,
        render: ({ lastUsedAt }) =>
          lastUsedAt === null ? <span className="ink-3">{t('token.never')}</span> : dateTime(lastUsedAt),
      },
      { name: 'lastIP', kind: 'mono', isOptional: true },
      { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
    ],
    filters: [{ name: 'name', kind: 'search' }],
    remove: 'DELETE /{area}/apiTokens',
    removal: 'disruptive',
  });
/** A root sees those of all people of its tree. */
const everybodys = apiTokensOf([{ name: 'accountName', width: 200 }]);
const own = apiTokensOf([]);

export default function ApiTokens() {
  const { isRoot } = useSelf();
  return <ResourcePage resource={isRoot ? everybodys : own} extra={<CreateButton />} emptyAction={<CreateButton />} />;
}
