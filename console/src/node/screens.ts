/** Pages about the fleet, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const client: readonly Screen[] = [
  {
    path: 'nodeManage/zonesList',
    title: 'zones',
    order: 10,
    call: 'GET /client/zones',
    load: withTexts('node', () => import('./zones.tsx')),
  },
  {
    path: 'nodeManage/zoneSetting',
    title: 'zoneSetting',
    order: 15,
    call: ['GET /client/metaZones', 'GET /client/zone/{id}/setting/http2'],
    hidden: true,
    below: 'zones',
    load: withTexts('node', () => import('./zone-settings.tsx')),
  },
  {
    path: 'nodeManage/nodesList',
    title: 'nodes',
    order: 20,
    call: 'GET /client/nodes',
    load: withTexts('node', () => import('./nodes.tsx')),
  },
  {
    path: 'nodeManage/resolutionTitle',
    title: 'groups',
    order: 40,
    call: ['GET /client/metaZones', 'GET /client/zone/{zoneId}/groups'],
    load: withTexts('node', () => import('./groups.tsx')),
  },
  {
    path: 'nodeManage/productsList',
    title: 'products',
    order: 50,
    call: 'GET /client/products',
    load: withTexts('node', () => import('./products.tsx')),
  },
  {
    path: 'nodeManage/autoSSLManagement',
    title: 'autoCertificates',
    order: 100,
    call: 'GET /client/autoCertificates',
    load: withTexts('node', () => import('./auto-certificates.tsx')),
  },
  {
    path: 'systemManagement/systemUpgrade',
    title: 'systemUpgrade',
    order: 20,
    call: ['GET /client/nodes/initialized', 'GET /client/node/latestVersion'],
    load: withTexts('node', () => import('./upgrade.tsx')),
  },
];
