/** Ports of a site beside the usual ones, and their own origins. */
import { call, type RowOf } from '../kit/client.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { type FormField, type Params, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { Tags } from '../kit/bits.tsx';
import { t } from '../kit/text.ts';

const list = 'GET /{area}/site/{siteID}/ports';
const origins = 'GET /{area}/site/{siteID}/port/{portID}/upstreams';
const adding = 'POST /{area}/site/{siteID}/port/{portID}/upstreams';
type Port = RowOf<typeof list>;

const OriginsDrawer = later(async () => (await import('./upstreams.tsx')).OriginsDrawer);

/** A port and its scheme are one choice: the zone has both. */
const nameOf = ({ scheme, port }: Pick<Port, 'scheme' | 'port'>) => `${scheme}:${port}`;
const sayPort = (scheme: string, port: unknown) => `${String(port)} · ${scheme.toUpperCase()}`;
const schemeOf = (values: Values) => String(values['port'] ?? '').split(':')[0];
const isMapped = (values: Values) => values['portMap'] === true;
const numberOf = (typed: unknown) => (typed === undefined || typed === '' ? null : typed);
/** As the call takes it. */
const written = ({ port, portMap, httpPort, httpsPort, ips, memo }: Values) => {
  const [scheme, number] = String(port ?? '').split(':');
  return {
    ...(number === undefined ? {} : { port: Number(number), scheme }),
    portMap: { enabled: portMap, http: numberOf(httpPort), https: numberOf(httpsPort) },
    ips,
    memo,
  };
};
const fields: FormField[] = [
  {
    name: 'port',
    kind: 'remote',
    from: 'GET /{area}/site/{siteID}/zonePorts',
    value: 'name',
    text: ({ scheme, port }) => sayPort(String(scheme), port),
    help: 'sitePort',
  },
  { name: 'ips', label: 'portVisitors', kind: 'lines', isOptional: true, initial: [], help: 'portVisitors' },
  { name: 'portMap', kind: 'switch', help: 'portMapOfPort', initial: true },
  {
    name: 'httpPort',
    kind: 'number',
    help: 'mappedPort',
    when: values => isMapped(values) && schemeOf(values) === 'http',
    isOptional: true,
  },
  {
    name: 'httpsPort',
    kind: 'number',
    help: 'mappedPort',
    when: values => isMapped(values) && schemeOf(values) === 'https',
    isOptional: true,
    initial: 443,
  },
  { name: 'memo', kind: 'area' },
];

const ports = resource<typeof list>({
  name: 'ports',
  list,
  note: 'ports',
  rowName: port => String(port.port),
  columns: [
    { name: 'port', kind: 'mono', sort: true, link: 'edit', width: 120 },
    { name: 'scheme', kind: 'option', texts: 'portScheme', sort: true, width: 120 },
    {
      name: 'upstreamCount',
      width: 170,
      render: port =>
        port.upstreamCount > 0 ? String(port.upstreamCount) : <span className="ink-3">{t('ports.asDomain')}</span>,
    },
    {
      name: 'ips',
      label: 'portVisitors',
      width: 220,
      render: port => (port.ips.length > 0 ? <Tags values={port.ips} /> : <span className="ink-3">{t('ports.everybody')}</span>),
    },
    { name: 'memo', width: 180 },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  create: 'POST /{area}/site/{siteID}/ports',
  update: 'PUT /{area}/site/{siteID}/port/{portID}',
  remove: 'DELETE /{area}/site/{siteID}/ports',
  idParam: 'portID',
  wrap: 'ports',
  fields,
  valuesOf: ({ port, scheme, portMap, ips, memo }) => ({
    port: nameOf({ port, scheme }),
    portMap: portMap.enabled,
    httpPort: portMap.http ?? undefined,
    httpsPort: portMap.https ?? undefined,
    ips,
    memo,
  }),
  createBody: written,
  updateBody: written,
  errors: { fields: { inconsistentPorts: 'port', illegalPortType: 'port', duplicated: 'port', portsExceeded: 'port' } },
  actions: [
    {
      name: 'upstreams',
      call: origins,
      run: async ([port], { params }) => {
        await overlay(close => <PortOrigins port={port!} siteID={params['siteID']!} onClose={() => close()} />);
      },
    },
    {
      name: 'asDomain',
      call: [origins, 'DELETE /{area}/site/{siteID}/port/{portID}/upstreams'],
      when: port => port.upstreamCount > 0,
      level: 'disruptive',
      warning: 'asDomain',
      run: async ([port], { params, send }) => {
        const at = { siteID: params['siteID']!, portID: port!.id };
        const { data } = await call(origins, { ...at, query: { pageSize: 500 } });
        return send(
          'DELETE /{area}/site/{siteID}/port/{portID}/upstreams',
          { ids: data.map(one => one.id) },
          { params: { portID: port!.id } },
        );
      },
    },
  ],
});

function PortOrigins({ port, siteID, onClose }: { port: Port; siteID: number; onClose: () => void }) {
  const at = { siteID, portID: port.id };
  const { scheme, portMap } = port;
  const mapped = portMap.enabled && (scheme === 'http' ? portMap.http : portMap.https);
  return (
    <OriginsDrawer
      owner={{
        title: `${sayPort(scheme, port.port)} · ${t('page.upstreams')}`,
        params: at,
        row: port,
        adding,
        list: async () => (await call(origins, { ...at, query: { pageSize: 500 } })).data,
        add: (upstreams, options) => call(adding, { ...at, body: { upstreams } }, options),
        change: (upstreams, options) =>
          call('PUT /{area}/site/{siteID}/port/{portID}/upstreams', { ...at, body: { upstreams } }, options),
        remove: (ids, options) => call('DELETE /{area}/site/{siteID}/port/{portID}/upstreams', { ...at, body: { ids } }, options),
        again: async () => (await call(list, { siteID, query: { ids: [port.id] } })).data[0]!,
        head: <p className="ink-2">{t('ports.origins')}</p>,
        follows: rows =>
          rows.some(one => one.protocol === 'follow') && (
            <p className="ink-2">
              {t('ports.follow', {
                scheme: scheme.toUpperCase(),
                port: mapped ? t('upstreams.port', { port: mapped }) : t('upstreams.ownPort'),
              })}
            </p>
          ),
      }}
      onClose={onClose}
    />
  );
}

export const Ports = ({ params }: { params: Params }) => <ResourcePage resource={ports} params={params} isEmbedded />;
