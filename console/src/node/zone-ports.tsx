/** Where the nodes of a zone listen beside their usual ports. */
import { portSchemes } from '#contract/limits.ts';
import { options, type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';

const zonePorts = resource<'GET /client/zone/{id}/setting/ports'>({
  name: 'zonePorts',
  list: 'GET /client/zone/{id}/setting/ports',
  note: 'zonePorts',
  rowName: row => String(row.port),
  columns: [
    { name: 'port', kind: 'mono', sort: true, link: 'edit', width: 120 },
    { name: 'scheme', kind: 'option', texts: 'zonePortScheme', sort: true, width: 140 },
    { name: 'memo', width: 240 },
    { name: 'createdAt', kind: 'time', sort: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  create: 'POST /client/zone/{id}/setting/ports',
  update: 'PUT /client/zone/{id}/setting/port',
  remove: 'DELETE /client/zone/{id}/setting/ports',
  wrap: 'ports',
  errors: {
    fields: { duplicated: 'port', illegalPortType: 'scheme', inconsistentPorts: 'port', portType4InUse: 'port' },
  },
  fields: [
    { name: 'port', kind: 'number', help: 'zonePort' },
    { name: 'scheme', kind: 'segments', ...options(portSchemes, 'zonePortScheme'), help: 'zonePortScheme', initial: 'https' },
    { name: 'memo', kind: 'area' },
  ],
});

export const ZonePorts = ({ params }: { params: Params }) => <ResourcePage resource={zonePorts} params={params} isEmbedded />;
