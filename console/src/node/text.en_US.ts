import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.zones': 'Zones',
  'menu.zoneSetting': 'Zone settings',
  'menu.nodes': 'Nodes',
  'menu.groups': 'Resolution groups',
  'menu.products': 'Products',
  'menu.autoCertificates': 'Auto certificates',

  'page.zones': 'Zones',
  'page.nodes': 'Nodes',
  'page.groups': 'Resolution groups',
  'page.products': 'Products',
  'page.autoCertificates': 'Auto certificates',

  'noun.zones': 'zone',
  'noun.nodes': 'node',
  'noun.groups': 'group',
  'noun.products': 'product',
  'noun.autoCertificates': 'certificate',

  'empty.zones': 'A zone is a fleet of nodes with one set of settings. Create the first.',
  'empty.nodes': 'Get a command with “Join a node” and run it on a machine; the node then appears here.',
  'empty.line': 'Once nodes are added, this line answers with their addresses.',
  'empty.groups': 'A group decides which nodes a name resolves to.',
  'empty.products': 'A product is what you sell: a group and its limits.',

  'field.nodeCount': 'Nodes',
  'field.productCount': 'Products',
  'field.addresses': 'Addresses',
  'field.version': 'Version',
  'field.lastBeat': 'Last report',
  'field.startedAt': 'Started',
  'field.behind': 'Behind',
  'field.aside': 'Log lines set aside',
  'field.refused': 'Refused',
  'field.groupID': 'Group',
  'field.groupName': 'Group',
  'field.siteLimit': 'Site limit',
  'field.domainLimit': 'Domain limit',
  'field.autoSSLLimit': 'Auto SSL limit',
  'field.sellType': 'Sold as',
  'field.trafficPrice': 'Price per GB',
  'field.defaultState': 'Initial state',
  'field.lines': 'Own lines',
  'field.cidrs': 'Networks',
  'field.asns': 'ASN',
  'field.line': 'Line',

  'help.lines': 'For visitors from these networks or operators. Everybody else gets the default line.',
  'help.trafficPrice': 'Per GB (10⁹ bytes) of traffic to visitors, in your own currency.',

  'warning.pauseNode': 'A paused node stops serving.',
  'warning.deinitialize': 'The node leaves its zone.',

  'action.add': 'Add',
  'action.addLine': 'Add a line',
  'action.groups': 'Resolution',
  'action.zoneSetting': 'Settings',
  'action.join': 'Join a node',
  'action.initialize': 'Initialize',
  'action.deinitialize': 'Take out of zone',
  'action.assignNodes': 'Nodes of line',

  'tab.initialized': 'Initialized',
  'tab.uninitialized': 'Uninitialized',

  'sellType.plan': 'Monthly plan',
  'sellType.usage': 'By usage',

  'nodeType.edge': 'Edge',
  'nodeType.relay': 'Relay',

  'lineKind.default': 'Default line',

  'role.main': 'Main',
  'role.backup': 'Backup',

  'join.title': 'Join a node',
  'join.text':
    'Run the command below as root on the machine. The node then appears under “Uninitialized”, or in the chosen zone at once.',
  'join.make': 'Make the command',
  'join.until': 'Valid until {time}, and only once.',
  'join.later': 'Decide later',
} satisfies SameAs<typeof texts>;
