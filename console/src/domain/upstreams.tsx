/** The origins of a domain, or of a port: all of them in one form, saved as what was added, changed and taken away. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { hashTypes } from '#contract/limits.ts';
import { Status, Tags } from '../kit/bits.tsx';
import { call, type CallKey, type RowOf } from '../kit/client.ts';
import { ResourceForm } from '../kit/form.tsx';
import { isSame } from '../kit/form-state.ts';
import { later } from '../kit/later.tsx';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { mergeRows, Rebased, saySame } from '../kit/row-values.ts';
import { type FormField, options, type Params, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';
import { versionOf } from '../kit/use-row.ts';
import { NameState } from './name-state.tsx';
import { newUpstream, upstreamFields } from './upstream-fields.ts';

const key = 'GET /{area}/site/{siteID}/domain/{domainID}/upstreams';
const adding = 'POST /{area}/site/{siteID}/domain/{domainID}/upstreams';
type Upstream = RowOf<typeof key>;
type Written = Pick<
  Upstream,
  'address' | 'port' | 'weight' | 'protocol' | 'backup' | 'enabled' | 'maxFails' | 'failTimeout' | 'hash' | 'keepalive'
> & {
  id?: number;
};

const ViewDrawer = later(async () => (await import('../kit/view-drawer.tsx')).ViewDrawer);
const drawerPx = 1100;
const fields: FormField[] = [
  {
    name: 'upstreams',
    kind: 'list',
    add: 'addUpstream',
    help: 'upstreams',
    template: () => ({ ...newUpstream(), enabled: true, maxFails: 1, failTimeout: 10, hash: 'none', keepalive: true }),
    fields: [
      ...upstreamFields,
      { name: 'maxFails', kind: 'number', width: 92 },
      { name: 'failTimeout', kind: 'number', unit: 'seconds', width: 96 },
      { name: 'hash', kind: 'select', ...options(hashTypes, 'hashType'), width: 104 },
      { name: 'keepalive', kind: 'switch', width: 64 },
      { name: 'enabled', kind: 'switch', width: 48 },
    ],
  },
];

const written = ({ id, ...row }: Written): Written => {
  const { address, port, weight, protocol, backup, enabled, maxFails, failTimeout, hash, keepalive } = row;
  return {
    ...(id === undefined ? {} : { id }),
    ...{ address, port, weight, protocol, backup, enabled, maxFails, failTimeout, hash, keepalive },
  };
};
const rowsOf = (values: Values) => ((values['upstreams'] ?? []) as Written[]).map(written);
const withoutID = ({ id: _id, ...row }: Written) => row;

type Options = NonNullable<Parameters<typeof call>[2]>;
type Stored = Written & { id: number };
/** Whose origins they are: how they are read, written, and what is said of them. */
interface Owner {
  title: string;
  params: Params;
  row: { id: number };
  /** writes new ones: whose schema and key the form has */
  adding: CallKey;
  list: () => Promise<Written[]>;
  add: (rows: Omit<Written, 'id'>[], options: Options) => Promise<unknown>;
  change: (rows: Stored[], options: Options) => Promise<unknown>;
  remove: (ids: number[], options: Options) => Promise<unknown>;
  /** the row they belong to, as it is now */
  again: () => Promise<{ id: number }>;
  head: ReactNode;
  follows: (rows: readonly Written[]) => ReactNode;
}

/** An error about `upstreams.<n>` of a call that had some of the rows, about the same row of the form. */
function about(error: unknown, sent: readonly Written[], shown: readonly Written[]): unknown {
  if (!(error instanceof ApiError) || !Array.isArray(error.errorData)) return error;
  const errorData = (error.errorData as { path?: string }[]).map(one => ({
    ...one,
    path: one.path?.replace(/^upstreams\.(\d+)/, (_, n: string) => `upstreams.${shown.indexOf(sent[Number(n)]!)}`),
  }));
  return new ApiError({ code: error.code, message: error.message, status: error.status, errorData, extra: error.extra });
}

const isStale = (error: unknown) =>
  error instanceof ApiError &&
  error.status === 409 &&
  Array.isArray(error.errorData) &&
  error.errorData.some((one: { rule?: unknown }) => one.rule === 'stale');

/** Origins as they were seen, and the version of their domain that they belong to: not a newer one, or a change would be missed. */
interface Seen {
  version: number | undefined;
  rows: Written[];
}

export function OriginsDrawer({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const can = useCan();
  // the one it was opened for: its functions are made anew with every drawing
  const [{ row, adding, list, params: at, ...of }] = useState(owner);
  // As they were when the drawer opened: what comes later is told, and never slips under what is being typed.
  const [before, setBefore] = useState<Seen>();
  const load = useCallback(
    async (version: number | undefined): Promise<Seen> => ({ version, rows: (await list()).map(written) }),
    [list],
  );
  useEffect(() => {
    load(versionOf(row)).then(setBefore, (error: unknown) => {
      present(error);
      onClose();
    });
    // oxlint-disable-next-line react/exhaustive-deps -- when it opens
  }, [load]);
  if (!before) return null;
  const base = before;
  const again = async () => load(versionOf(await of.again()));

  /** New ones first: at no moment is the domain without an origin. What has been done when one of the calls fails stands. */
  async function send(values: Values) {
    let now = rowsOf(values);
    let seen = base;
    for (let isFirst = true; ; isFirst = false) {
      const added = now.filter(row => row.id === undefined);
      let isAdded = false;
      let sent = added;
      try {
        const options = { version: seen.version, onVersion: (version: number) => (options.version = version) };
        if (added.length) {
          await of.add(added.map(withoutID), options);
          isAdded = true;
        }
        const changed = now.filter((row): row is Stored => {
          const old = seen.rows.find(({ id }) => id === row.id);
          return row.id !== undefined && old !== undefined && !isSame(row, old);
        });
        sent = changed;
        if (changed.length) await of.change(changed, options);
        sent = [];
        const removed = seen.rows.filter(old => !now.some(row => row.id === old.id)).map(old => old.id!);
        if (removed.length) await of.remove(removed, options);
        return;
      } catch (error) {
        if (!isAdded && !isStale(error)) throw about(error, sent, now);
        const after = await again();
        // the new ones stand already: they are not made a second time
        const rest = isAdded ? now.filter(row => row.id !== undefined) : now;
        const shown = mergeRows(seen.rows, rest, after.rows) as Written[];
        setBefore(after);
        if (isStale(error) && isFirst && saySame(shown, now)) {
          // what changed is something else of the domain, or came from here: nobody needs to look at it
          now = shown;
          seen = after;
          continue;
        }
        if (isStale(error)) throw new Rebased({ upstreams: shown });
        const inPlace = sent.map(row => shown.find(one => one.id === row.id) ?? row);
        throw new Rebased({ upstreams: shown }, about(error, inPlace, shown));
      }
    }
  }
  const follows = of.follows(base.rows);
  const shown = { title: of.title, fields, params: at, widthPx: drawerPx, onClose };
  const values = { upstreams: base.rows };
  if (!can(adding))
    return (
      <ViewDrawer {...shown} why={t('view.noRight')} row={row} columns={[]} values={values}>
        {of.head}
        {follows}
      </ViewDrawer>
    );
  return (
    <ResourceForm
      {...shown}
      call={adding}
      values={values}
      body={changed => ({ upstreams: rowsOf(changed).map(withoutID) })}
      send={send}
      isEdit
      success={t('message.updateSuccess')}
    >
      {of.head}
      {follows}
    </ResourceForm>
  );
}

interface Props {
  domain: RowOf<'GET /{area}/site/{siteID}/domains'>;
  siteID: number;
  onClose: () => void;
}

export function UpstreamsDrawer({ domain, siteID, onClose }: Props) {
  const at = { siteID, domainID: domain.id };
  const head = (
    <p className="domain-head">
      <Status value={domain.status === 1 ? 'enabled' : 'disabled'} />
      <span>
        {t('field.cnameStatus')} <NameState domain={domain} />
      </span>
      <span>
        {t('field.certStatus')} <Status value={domain.certStatus} texts="certState" />
      </span>
      <Tags values={domain.tags} />
    </p>
  );
  const { enabled, http, https } = domain.portMap;
  const [overHTTP, overHTTPS] = [enabled && http, enabled && https].map(port =>
    port ? t('upstreams.port', { port }) : t('upstreams.ownPort'),
  );
  const follows = (rows: readonly Written[]) =>
    rows.some(one => one.protocol === 'follow') && (
      <p className="ink-2">{t('upstreams.follow', { http: overHTTP!, https: overHTTPS! })}</p>
    );
  const owner: Owner = {
    title: `${domain.domainName} · ${t('page.upstreams')}`,
    params: at,
    row: domain,
    adding,
    list: async () => (await call(key, { ...at, query: { pageSize: 500 } })).data,
    add: (upstreams, options) => call(adding, { ...at, body: { upstreams } }, options),
    change: (upstreams, options) =>
      call('PUT /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, body: { upstreams } }, options),
    remove: (ids, options) => call('DELETE /{area}/site/{siteID}/domain/{domainID}/upstreams', { ...at, body: { ids } }, options),
    again: () => call('GET /{area}/site/{siteID}/domain/{domainID}', at),
    head,
    follows,
  };
  return <OriginsDrawer owner={owner} onClose={onClose} />;
}
