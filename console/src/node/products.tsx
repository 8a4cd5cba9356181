/** Products: what the operator sells, a group and its limits. */
import './fleet.css';
import { Link } from '@tanstack/react-router';
import { sellTypes, trafficExceededActions } from '#contract/limits.ts';
import { useChoices } from '../kit/choices.ts';
import { type FormField, options, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { bytes, number } from '../kit/units.ts';
import { UnitsInput } from '../kit/pieces.ts';
import { asSearch } from '../kit/search.ts';

/** Prices of a gigabyte have many places. */
const price = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 });
const productStates = ['normal', 'pause'] as const;
const Limit = ({ value }: { value: number }) =>
  value === 0 ? <span className="ink-3">{t('unit.unlimited')}</span> : number(value);

/** The zone is the group's: the row carries its id alone. */
function Zone({ id }: { id: number }) {
  const { options, isPending } = useChoices({ from: 'GET /client/metaZones' }, {});
  return options.find(zone => zone.value === id)?.label ?? (isPending ? '' : `#${id}`);
}

const group = (only: 'create' | 'edit'): FormField => ({
  name: 'groupID',
  kind: 'remote',
  from: 'GET /client/metaGroups',
  text: row => t('product.groupOfZone', { group: String(row['name']), zone: String(row['zoneName']) }),
  help: only === 'create' ? 'productGroup' : 'productGroupMove',
  only,
});

const products = resource<'GET /client/products'>({
  name: 'products',
  list: 'GET /client/products',
  defaultSort: 'name',
  rowName: product => product.name,
  columns: [
    { name: 'name', sort: true, link: 'edit', width: 170 },
    { name: 'zoneID', width: 120, render: product => <Zone id={product.zoneID} /> },
    {
      name: 'groupName',
      width: 120,
      render: product => (
        <Link to={linkTo('groups')!} search={asSearch({ zone: product.zoneID })}>
          {product.groupName}
        </Link>
      ),
    },
    { name: 'siteCount', kind: 'number' },
    { name: 'sellType', kind: 'option', texts: 'sellType', sort: true, width: 120 },
    { name: 'trafficPrice', sort: true, width: 120, render: product => price(product.trafficPrice) },
    {
      name: 'trafficLimit',
      kind: 'bytes',
      sort: true,
      width: 120,
      render: product =>
        product.trafficLimit === 0 ? <span className="ink-3">{t('unit.unlimited')}</span> : bytes(product.trafficLimit),
    },
    { name: 'trafficAction', kind: 'option', texts: 'trafficAction', isOptional: true, width: 150 },
    { name: 'siteLimit', kind: 'number', sort: true, width: 110, render: product => <Limit value={product.siteLimit} /> },
    { name: 'domainLimit', kind: 'number', sort: true, width: 110, render: product => <Limit value={product.domainLimit} /> },
    { name: 'autoSSLLimit', kind: 'number', width: 110, render: product => <Limit value={product.autoSSLLimit} /> },
    { name: 'portLimit', kind: 'number', width: 110, isOptional: true, render: product => <Limit value={product.portLimit} /> },
    { name: 'defaultState', kind: 'status', sort: true },
    { name: 'memo', width: 160 },
    { name: 'createdAt', kind: 'time', sort: true, isOptional: true },
    { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
  ],
  filters: [
    { name: 'keyword', kind: 'search' },
    { name: 'sellType', kind: 'segments', ...options(sellTypes, 'sellType') },
  ],
  create: 'POST /client/product',
  errors: { fields: { duplicated: 'name' } },
  update: 'PUT /client/product',
  remove: 'DELETE /client/product',
  removal: 'destructive',
  fields: [
    { name: 'name', kind: 'text', help: 'name' },
    group('create'),
    group('edit'),
    { name: 'sellType', kind: 'segments', ...options(sellTypes, 'sellType'), initial: 'plan' },
    { name: 'trafficPrice', kind: 'number', help: 'trafficPrice', initial: 0 },
    {
      name: 'trafficLimit',
      kind: 'custom',
      help: 'trafficLimit',
      isOptional: true,
      initial: 0,
      render: ({ value, onChange, ...rest }) => (
        <UnitsInput {...rest} kind="bytes" value={typeof value === 'number' ? value : null} onChange={onChange} />
      ),
    },
    {
      name: 'trafficAction',
      kind: 'segments',
      ...options(trafficExceededActions, 'trafficAction'),
      help: 'trafficAction',
      initial: 'none',
      when: values => values['trafficLimit'] !== 0,
    },
    { name: 'siteLimit', kind: 'number', help: 'zeroUnlimited', initial: 0 },
    { name: 'domainLimit', kind: 'number', help: 'domainLimitPerSite', initial: 0 },
    { name: 'autoSSLLimit', kind: 'number', help: 'autoSSLLimit', initial: 0 },
    { name: 'portLimit', kind: 'number', help: 'portLimit', initial: 0 },
    { name: 'defaultState', kind: 'segments', ...options(productStates, 'state'), help: 'defaultState', initial: 'normal' },
    { name: 'memo', kind: 'area' },
  ],
});

export default function Products() {
  return <ResourcePage resource={products} />;
}
