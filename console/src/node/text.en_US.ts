import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.zones': 'Zones',
  'menu.zoneSetting': 'Zone settings',
  'menu.nodes': 'Nodes',
  'menu.groups': 'Resolution groups',
  'menu.products': 'Products',
  'menu.systemUpgrade': 'System upgrade',
  'menu.autoCertificates': 'Auto certificates',

  'field.version': 'Version',

  'action.add': 'Add',

  'role.main': 'Main',
  'role.backup': 'Backup',
  'portType.7': 'Layer 7',
  'portType.7+4': 'Layers 7 and 4',
} satisfies SameAs<typeof texts>;
