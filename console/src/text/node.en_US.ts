import type { Node } from '../kit/text.ts';

export default {
  'field.nodes': 'Nodes',
  'field.configuration': 'Configuration',
  'field.ranges': 'Allowed private ranges',

  'help.originRanges':
    'One CIDR block or address a line, within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7.',
  'help.initialize': 'The nodes get the configuration of this zone and start to serve visitors.',
  'help.productGroup': 'Domains resolve to the nodes of this group.',
  'help.productGroupMove': 'Sites already sold will be served by the nodes of the new group.',
  'help.domainLimitPerSite': 'Domains each site may have; 0 means unlimited.',
  'help.defaultState': 'The state in which new sites of this product start.',

  'empty.nodesUninitialized': 'Nodes that have joined without a zone wait here to be initialized.',

  'zone.normal': '{normal} / {nodes} normal',
  'zone.noNodes': 'No nodes',

  'origins.open': 'Private origins',
  'origins.title': 'Private ranges for origins',
  'origins.text':
    'Your customers’ origins may lie at public addresses. If their servers are in your own network, allow its ranges here: every customer of yours can then have your nodes connect there. Loopback, link-local and metadata addresses stay refused, and so does the platform itself.',
  'origins.environment': 'Allowed in addition by the installation (BREAKWATER_ORIGIN_ALLOW): {ranges}',

  'node.upToDate': 'Up to date',
  'node.behind': '{count} changes behind',
  'node.sequence': 'Sequence {seq}',
  'node.noRefusals': 'None',
  'node.refusals': '{count} refused',
  'node.refusedTitle': 'Refused configuration: {count}',
  'node.refusedText':
    'The node could not apply the following and goes on with what it had. Correct the content and save: it is sent again.',
  'node.asideLines': '{count} lines',
  'node.asideUnknown': 'Not known at the moment',
  'node.asideText':
    'Of the last 24 hours. These lines count for nobody: no bill, no statistics, no access log. Few may come from a change of zones; many, or of sites that are not in its zone, mean that the node may have been taken over. Take it out of its zone and install it anew.',
  'aside.form': 'Not written by our edge',
  'aside.number': 'Impossible figures',
  'aside.future': 'Of the future: check the clock of the node',
  'aside.late': 'Older than a week',
  'aside.node': 'The node was not in that zone then',
  'aside.site': 'A site that this node does not serve',
  'aside.domain': 'A domain that is not of that site',
  'aside.store': 'Refused by the analytics store',
  'node.timeAndAgo': '{time}, {ago}',
  'node.initializeTitle': 'Initialize {count} nodes',

  'join.intro': 'Make a one-line command and run it on the machine that shall become a node.',
  'join.nameHelp': 'Left empty, the host name of the machine is used.',
  'join.zoneHelp': 'With a zone the node gets its configuration as soon as it joins; without one it can be initialized later.',
  'join.run': 'Run this command on the machine as root:',
  'join.copy': 'Copy command',
  'join.needs': 'Breakwater must be installed on the machine, and it must reach the address in the command.',
  'join.expired': 'The command is no longer valid.',
  'join.again': 'Make a new one',
  'join.waiting': 'Waiting for the node to connect; it will appear here…',
  'join.inZone': 'joined zone {zone}',
  'join.noZone': 'joined, no zone yet',

  'group.note': 'Groups decide which nodes domains resolve to.',
  'group.noZone': 'No zone yet',
  'group.addZone': 'Create zone',
  'group.nodes': 'Nodes: {count}',
  'group.noNodes': 'No nodes on the line',
  'group.lineTitle': '{group}: nodes on the default line',
  'group.lineText': 'Domains resolve to the addresses of main nodes; backup nodes answer only when no main node can serve.',
  'group.lineEmpty': 'Until a node is added, domains of this group resolve to no address.',
  'group.zoneEmpty': 'This zone has no nodes yet. Add a node first.',
  'group.chooseNodes': 'Choose nodes to add',
  'group.allOnLine': 'All nodes of this zone are on the line',
  'group.add': 'Add to line',
  'group.remove': 'Remove',
  'group.removeNode': 'Remove {node} from the line',
  'group.removeTitle': 'Remove the node from the line?',
  'group.removeText': 'Domains will no longer resolve to the addresses of this node.',
  'group.removeLast': 'This is the last node on the line. Without it, domains of this group cannot be resolved.',
  'group.roleOf': 'Role of {node}',

  'product.groupOfZone': '{group} · zone {zone}',
} satisfies Node;
