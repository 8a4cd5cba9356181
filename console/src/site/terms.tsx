/** What an operator sets of many sites at once: limits of their own, and the product they are sold as. */
import { BatchForm } from '../kit/batch-form.tsx';
import type { RowOf } from '../kit/client.ts';
import { overlay } from '../kit/overlay.ts';
import { act, type RowAction, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

type Site = RowOf<'GET /client/sites'>;
interface FormProps {
  sites: readonly Site[];
  onClose: () => void;
}

const idsOf = (rows: readonly Site[]) => rows.map(row => row.id);
const limitNames = ['domainLimit', 'autoSSLLimit', 'portLimit'] as const;
const labels = { domainLimit: 'siteDomainLimit', autoSSLLimit: 'siteAutoSSLLimit', portLimit: 'sitePortLimit' } as const;
/** A blank one is the product's (null); where sites differ and nobody chose, each keeps its own. */
const said = (values: Values) =>
  Object.fromEntries(limitNames.flatMap(name => (values[name] === undefined ? [] : [[name, values[name]]])));

/** Limits of their own, instead of their product's. */
const LimitationForm = ({ sites, onClose }: FormProps) => (
  <BatchForm
    title={sites.length === 1 ? sites[0]!.siteName : t('confirm.title', { verb: t('action.limitation'), count: sites.length })}
    call="PUT /client/site/limitations"
    params={{}}
    fields={limitNames.map(name => ({ name, label: labels[name], kind: 'number', isOptional: true, help: 'siteLimitation' }))}
    rows={sites}
    valuesOf={site => Object.fromEntries(limitNames.map(name => [name, site[name]]))}
    body={values => ({ ids: idsOf(sites), ...said(values) })}
    success={t('message.updateSuccess')}
    onClose={onClose}
  />
);

/** The product they are sold as from now on. */
const ProductForm = ({ sites, onClose }: FormProps) => (
  <BatchForm
    title={sites.length === 1 ? sites[0]!.siteName : t('confirm.title', { verb: t('action.changeProduct'), count: sites.length })}
    call="PUT /client/site/product/change"
    params={{}}
    fields={[{ name: 'productID', kind: 'remote', from: 'GET /client/metaProducts', help: 'changeProduct' }]}
    rows={sites}
    valuesOf={site => ({ productID: site.productID })}
    body={values => ({ ids: idsOf(sites), productID: values['productID'] })}
    success={t('message.changeSiteSuccess')}
    onClose={onClose}
  />
);

export const terms: RowAction<Site>[] = [
  {
    name: 'limitation',
    call: 'PUT /client/site/limitations',
    isBatch: true,
    run: sites => overlay(close => <LimitationForm sites={sites} onClose={() => close()} />),
  },
  {
    name: 'changeProduct',
    call: 'PUT /client/site/product/change',
    isBatch: true,
    run: sites => overlay(close => <ProductForm sites={sites} onClose={() => close()} />),
  },
  act('PUT /client/site/product/refresh', {
    name: 'refreshProduct',
    isBatch: true,
    level: 'disruptive',
    warning: 'refreshProduct',
    when: site => limitNames.some(name => site[name] !== null),
    body: rows => ({ ids: idsOf(rows) }),
    success: () => t('message.refreshSiteSuccess'),
  }),
  act('PATCH /client/site/forceBackup', {
    name: 'forceBackup',
    isBatch: true,
    level: 'disruptive',
    warning: 'forceBackup',
    when: site => !site.forceBackup,
    body: rows => ({ ids: idsOf(rows), enabled: true }),
  }),
  act('PATCH /client/site/forceBackup', {
    name: 'endForceBackup',
    isBatch: true,
    when: site => site.forceBackup,
    body: rows => ({ ids: idsOf(rows), enabled: false }),
  }),
];
