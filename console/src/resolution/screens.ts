/** Pages about names, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const client: readonly Screen[] = [
  {
    path: 'nodeManage/vNode',
    title: 'vNode',
    order: 30,
    call: 'GET /client/virtualNodes',
    load: withTexts('resolution', () => import('./virtual-nodes.tsx')),
  },
  {
    path: 'systemManagement/dnsSetting',
    title: 'dnsSetting',
    order: 30,
    call: 'GET /client/setting/dns',
    load: withTexts('resolution', () => import('./dns-setting.tsx')),
  },
  {
    path: 'systemManagement/cname',
    title: 'cname',
    order: 31,
    call: 'GET /client/setting/dns/cnames',
    load: withTexts('resolution', () => import('./cname.tsx')),
  },
];
