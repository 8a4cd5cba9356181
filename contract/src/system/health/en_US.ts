import type { Reason } from './checks.ts';

/** What is wrong, and what to do. */
export const texts: Readonly<Record<Reason, readonly [says: string, todo: string]>> = {
  'database.away': [
    'PostgreSQL does not answer: {detail}',
    'An embedded one is started again by itself: look into logs/postgres.log, and free disk space if it does not come back. One named by DATABASE_URL is yours to start: check it, and the address.',
  ],
  'database.slow': ['PostgreSQL answers late.', 'Look at the load of the machine, and for long statements in pg_stat_activity.'],
  'database.noWrites': [
    'PostgreSQL takes no changes: {detail}',
    'Nothing can be saved. Usually the disk is full: free some space; it recovers by itself.',
  ],
  'database.deaf': [
    'Notices of PostgreSQL do not arrive: {detail}',
    'Changes show late, and who was paused or signed out elsewhere is let go a little later; nothing is lost. It listens again by itself: look for limits of connections (max_connections), and for a pooler in between, which must not stand in the way of LISTEN.',
  ],
  'bus.away': [
    'The bus (NATS JetStream) does not answer questions: {detail}',
    'Changes do not reach the nodes and log lines wait there; visitors are served. An embedded one is killed and started again by itself within half a minute: see logs/nats.log, and free disk space if it is full. One named by NATS_URL is yours to start: check it, and the address.',
  ],
  'bus.slow': ['The bus (NATS JetStream) answers late.', 'Look at the load of the machine and its disk.'],
  'streams.missing': [
    'The stream {stream} of the bus is missing: {detail}',
    'It is made again by itself. If the bus refuses it, free disk space on the machine of NATS.',
  ],
  'streams.nearlyFull': [
    'The stream {stream} of the bus is {percent} % full.',
    'Log lines wait on the nodes until they are stored. Look at the checks “ingest” and “store”.',
  ],
  'streams.small': [
    'The disk leaves only {mb} MB for the stream {stream}.',
    'It works, with less to lean on when the store is away. Free disk space.',
  ],
  'relay.idle': [
    'Nobody carries changes from the database to the bus: {detail}',
    'Saved changes wait in order and nothing is lost. Look at the checks “bus” and “database”; restart the service “bus” if both are well.',
  ],
  'relay.late': [
    '{count} {count, one: saved change has, other: saved changes have} waited {duration} for the bus.',
    'They go out by themselves when the bus answers. Look at the check “bus” and at logs/server.log (“relay:”).',
  ],
  'store.away': [
    'The analytics store does not answer: {detail}',
    'Figures and logs are late; lines wait on the bus and on the nodes. An embedded one is started again by itself: see logs/store.log. One named by CLICKHOUSE_URL is yours to start: check it, and the address.',
  ],
  'store.slow': ['The analytics store answers late.', 'Look at the load of the machine and for long queries.'],
  'store.noWrites': [
    'The analytics store takes no lines: {detail}',
    'Lines wait on the bus and on the nodes and are stored later. Usually the disk is full: free some space.',
  ],
  'ingest.away': [
    'The ingest process does not answer.',
    'Figures and logs are late; nothing is lost. It is started again by itself; see logs/ingest.log.',
  ],
  'ingest.stuck': [
    'Log lines cannot be taken in: {detail}',
    'Nothing is lost: they wait on the bus and on the nodes. Look at the checks “bus”, “store” and “disk”.',
  ],
  'ingest.late': [
    'Log lines have waited {duration} for the store.',
    'Figures are that much late. If it grows, look at the check “store” and at the load of the machine.',
  ],
  'disk.low': [
    'Only {freeMB} MB are free on the disk that holds {folder}.',
    'Free space or enlarge the disk before it falls below {leastMB} MB.',
  ],
  'disk.full': [
    'The disk that holds {folder} is full: {freeMB} MB are free.',
    'Free at least {leastMB} MB. Visitors are served; changes and log lines wait, and everything goes on by itself afterwards.',
  ],
  'disk.fewFiles': [
    'The disk that holds {folder} can take only {freeFiles} more files (inodes).',
    'Delete many small files there, or make the file system anew with more inodes, before fewer than {leastFiles} are left. Free bytes do not help.',
  ],
  'disk.noFiles': [
    'The disk that holds {folder} takes hardly any new file: {freeFiles} inodes are free.',
    'Delete small files there until at least {leastFiles} are free. Visitors are served and nothing new is cached; a node gives up a part of its cache by itself.',
  ],
  'disk.unknown': [
    'The disk that holds {folder} cannot be asked: {detail}',
    'Check that the folder is there and its disk is mounted.',
  ],
  'process.away': ['The process {name} does not answer.', 'It is started again by itself; see logs/{name}.log.'],
  'process.busy': [
    'This process was busy for {ms} ms at a stretch.',
    'Calls take that much longer. Look at the load of the machine.',
  ],
  'nodes.offline': [
    'Node {node} has not been heard of for {duration}.',
    'Look at the machine and its network. It goes on serving what it has; the addresses of an offline node can be taken off its line.',
  ],
  'nodes.notOnBus': [
    'Node {node} reaches the control plane and does not come to its bus; it has not been heard of there for {duration}.',
    'If the bus has new keys, join the node again with a new token: it takes nothing that other keys signed. Else look at the way from the node to the port of the bus. It goes on serving what it has.',
  ],
  'nodes.pausedSilent': [
    'Node {node} is paused and has not been heard of for {duration}.',
    'It is no backup any more: where no main node of its line is well, nobody stands in. Look at the machine and its network, or take it off its line.',
  ],
  'nodes.relayPassed': [
    'Relay {node} is passed by: {count} of the {edges} edges of its zone do not reach it ({detail}).',
    'Visitors are served, and edges ask origins by themselves. Look at the way from the edges to the relay’s port (8447), at its address, and at what it listens on.',
  ],
  'nodes.older': [
    'Node {node} is older than the control plane and cannot read what it is sent.',
    'Upgrade the node. It goes on serving what it has; until then no change, no purge and no blacklist reaches it.',
  ],
  'nodes.apart': [
    'Node {node} says that it is version {version}, more than {most} releases from the control plane’s {own}.',
    'Upgrade the node; where it is too far for that, install it anew by a new join line. Until then it may not understand what it is sent. If that is no version you installed, find out who changed the machine.',
  ],
  'nodes.unserved': [
    'Node {node} is online and does not serve {count} {count, one: change, other: changes}, the oldest for {duration}.',
    'Look at the node’s own problem and its log (logs/agent.log). Restarting the agent on the node makes it read its configuration again; visitors are served meanwhile.',
  ],
  'nodes.problem': ['Node {node}: {detail}', 'Look at the log of the agent on the node.'],
  'nodes.refused': [
    'Node {node} refused {count} {count, one: part, other: parts} of its configuration.',
    'It goes on with what it had. Open the node to see which, correct them and save.',
  ],
  'nodes.clock': [
    'The clock of {node} is {duration} away from the control plane’s.',
    'Turn time synchronisation on at the node (systemd-timesyncd or chrony). From five minutes on it cannot renew its credentials, and its log lines do not count.',
  ],
  'nginx.away': [
    'nginx does not serve on this node: {detail}',
    'Visitors get no answer here. It is started again by itself; see node/log/nginx.out and error.log.',
  ],
  'nginx.hung': [
    '{count} {count, one: worker, other: workers} of nginx stood still on this node and {count, one: was, other: were} killed.',
    'Others took their place; visitors whose connections they held were cut off. If it comes back, look at node/log/error.log and at the machine’s disk and memory.',
  ],
  'configuration.late': [
    'This node gets no configuration: {detail}',
    'It serves what it has. Look at the network between the node and the bus.',
  ],
  'configuration.notTaken': ['This node cannot apply its configuration: {detail}', 'It serves what it had. See logs/agent.log.'],
  'configuration.unreadRules': [
    '{count} {count, one: rule, other: rules} of sites cannot be read by this node: {detail}',
    'Requests that hang on such a protection are refused with 503; other lists go on without the rule. Correct the rule named here and save it.',
  ],
  'configuration.certificatesWithoutRoom': [
    'This node has no room for {count} {count, one: certificate, other: certificates}.',
    'Their domains cannot be opened over https here; everything else is served. Give the node more memory, or delete certificates that are not needed.',
  ],
  'configuration.portsTaken': [
    'This node has not opened some ports of its zone: {detail}',
    'The others are served, and these open by themselves once they are free. End the program that holds the port, or give the zone another.',
  ],
  'configuration.noHTTP3': [
    'HTTP/3 is unavailable on this node: {detail}',
    'Visitors speak HTTP/2 or HTTP/1.1 here, and everything is served. The nginx of Debian 13 has HTTP/3, that of Debian 12 has not; a UDP port that is taken opens by itself once it is free.',
  ],
  'configuration.addressesAway': [
    'The node does not listen on addresses of its sub-nodes: {detail}.',
    'Give the machine the address, or switch off “nginx listens there” of that sub-node. The node tries again every minute.',
  ],
  'configuration.logsMore': [
    'The node writes down more than usual: level {level}, one request of {sampling} whole (0: none).',
    'Set System settings → Node logs back to notice and none once you know what you looked for. It ends by itself after {hours} hours, or when the disk gets short.',
  ],
  'configuration.logsTimeOver': [
    'The node stopped writing down more than usual after {hours} hours; level {level} and one request of {sampling} (0: none) are still set.',
    'Set System settings → Node logs back to notice and none. To go on looking, set it back and then again.',
  ],
  'configuration.logsDiskShort': [
    'The disk is short, so the node writes down what is usual; level {level} and one request of {sampling} (0: none) are still set.',
    'Make room on the disk of the node. Set System settings → Node logs back to notice and none, and then again to go on looking.',
  ],
  'configuration.logsFlood': [
    'More was written down than the log files have room for, so the node writes down what is usual; level {level} and one request of {sampling} (0: none) are still set.',
    'Set System settings → Node logs back to notice and none, and then to fewer sampled requests.',
  ],
  'configuration.noGeneva': [
    'The node has not set the Geneva window: {detail}.',
    'Its agent needs CAP_NET_ADMIN and the program nft. Nodes that were installed by the join line have the right; install nftables, or give the systemd unit the right.',
  ],
  'configuration.notBound': [
    'Workers of nginx are not bound to the cores that their zone lets them use: {detail}.',
    'They serve, and may take all cores. The system refuses sched_setaffinity(2): let it in the systemd unit or the container. Nodes of an earlier join line get it by running a new line there.',
  ],
  'configuration.damaged': [
    '{count} {count, one: part, other: parts} of this node’s own copy of its configuration {count, one: is, other: are} damaged on its disk.',
    'An nginx that ran goes on as it was; sites may be missing after it is started anew. All is read again as soon as the bus answers. Check the disk.',
  ],
  'shipping.stuck': ['Log lines of this node cannot be sent: {detail}', 'They wait on the node’s disk. Look at the check “bus”.'],
  'shipping.waiting': [
    '{mb} MB of log lines wait on this node, the oldest for {duration}.',
    'They are sent when the bus takes them. If it goes on growing, look at the checks “bus”, “ingest” and “store”.',
  ],
  'shipping.lost': [
    '{mb} MB of log lines were dropped on this node for lack of room.',
    'These requests are missing from figures and logs. Free disk space on the node and look at why lines waited.',
  ],
  'shipping.cut': [
    'A log file of this node is {kb} kB shorter than it was: power was cut, a snapshot was restored, or somebody cut the file.',
    'Another file was begun, and requests from then on are counted. Requests from shortly before may be missing from figures and logs.',
  ],
  'shipping.unread': [
    'A log file of this node cannot be read: {detail}',
    'It is kept and tried again; its requests are missing from the figures until then. Look at the file’s rights and at the disk.',
  ],
  'unlogged.counted': [
    '{count} {count, one: request, other: requests} could not be written to the log.',
    'They were served and are missing from the figures. Usually the node’s disk is full: free some space.',
  ],
  'setAside.counted': [
    '{count} {count, one: log line, other: log lines} of the node {node} {count, one: counts, other: count} for nobody.',
    'They are neither billed nor in any figure. The node’s page says why: a wrong clock, a broken line, or a site that it could not have served. A node that moved between zones does that once; if it goes on, its key may be in other hands: delete the node and let it join again.',
  ],
  'unrepeated.counted': [
    '{count} {count, one: insert, other: inserts} of log lines that a crash broke off could not be repeated.',
    'Its lines are in the figures, or they are lost: a node that held them did not come back in time, and bills of that minute may be too low. logs/ingest.log names the nodes.',
  ],
  'foreignWrites.counted': [
    '{count} {count, one: message, other: messages} that we did not send {count, one: was, other: were} found on the bus.',
    'Somebody with credentials of the bus writes to it. See logs/server.log for the subjects, and revoke the node or credentials concerned.',
  ],
  'sites.changesLate': [
    'Changes take longer than usual to go live.',
    'They are saved and will go live by themselves. Visitors are served as before.',
  ],
  'sites.figuresLate': ['Figures and logs are late.', 'Nothing is lost: they are completed by themselves.'],
  'upkeep.failing': [
    'Old data could not be cleared away: {detail}',
    'The database grows. Nothing else suffers; it is tried again every 15 minutes. See logs/server.log.',
  ],
  'upkeep.late': [
    'Old data has not been cleared away for {hours} {hours, one: hour, other: hours}.',
    'The service “work” does it every 15 minutes: is one running? Restart it.',
  ],
  'tasks.late': [
    '{count} {count, one: task stands, other: tasks stand} still for up to {duration}.',
    'Nothing is lost: they go on where they stood. The service “work” runs them: is one running? See logs/server.log.',
  ],
  'origins.refused': [
    '{count} {count, one: domain has, other: domains have} origins that nodes do not connect to: {sites}',
    'Visitors get 502 for them. If these are private addresses of yours, allow them under Zones → Private origins; other addresses must be corrected at the domain, or opened with BREAKWATER_ORIGIN_ALLOW.',
  ],
  'documents.notMade': [
    '{count} {count, one: saved change, other: saved changes} cannot be made into configuration, the oldest for {duration}: {sites}',
    'The nodes go on with what they had. Open the site to see why, correct it and save.',
  ],
  'rules.outdated': [
    '{count} stored {count, one: rule, other: rules} would no longer be accepted: {rules}',
    'An earlier release let {count, one: it, other: them} in. Nodes go on with most of them; where one cannot, requests that hang on a protection get 503. Open the site to see why, correct the rule or delete it.',
  ],
  'certificates.ending': [
    '{count} shown {count, one: certificate ends, other: certificates end} within 30 days and nothing renews {count, one: it, other: them}, the first in {days} {days, one: day, other: days}: {sites}',
    'Browsers refuse a site whose certificate is over. Uploaded ones: upload the next in its place. Those that make themselves failed: see Certificates (autoSSL) for why.',
  ],
  'names.away': [
    'The embedded name server does not answer: {detail}',
    'Names of customers lead nowhere meanwhile, as far as resolvers do not remember them. It is started again by itself; if it does not come back, see logs/dns.log, the disk, and whether something else has its port.',
  ],
  'names.idle': [
    'Nobody has looked after names for {duration}.',
    'They are answered as before; a node that fails stays in the answers. The service “work” does it: is one running? Restart it, and see logs/server.log.',
  ],
  'names.late': [
    'Changes of {count} CNAME {count, one: zone do, other: zones do} not come through, for up to {duration}: {zones}. {detail}',
    'They are tried again without end; a node that fails stays in the answers there meanwhile. DNS settings says why for each zone, and when it is tried next. At a provider: its status, its limits, the key. Embedded: logs/dns.log, the disk.',
  ],
  'names.refused': [
    '{count} {count, one: name, other: names} of sites {count, one: is, other: are} refused by the name server, for up to {duration}: {zones}. {detail}',
    'These names alone lead nowhere yet, or where they led before; everything else comes through, and nodes that fail leave the answers. They are tried again without end. DNS settings says why for each: most often something else stands under that name, or the key may not change it.',
  ],
  'names.unread': [
    '{count} resolution {count, one: group, other: groups} cannot be worked out: {groups}. {detail}',
    'It is answered as it was; a node that fails stays in it. Save the group and its lines once more; if that does not help, its rows are damaged: see logs/server.log, and the database.',
  ],
  'signedZones.otherKey': [
    '{count} signed CNAME {count, one: zone has, other: zones have} another key than the zone above may still say: {zones}',
    'Resolvers that validate (DNSSEC) get nothing from {count, one: it, other: them}. At the registrar replace the old DS by the one that CNAME zones shows, then confirm it there; or restore an encrypted backup, which has the keys.',
  ],
  'signedZones.otherAbove': [
    '{count} CNAME {count, one: zone has, other: zones have} a DS in the zone above that no key here belongs to: {zones}',
    'Resolvers that validate (DNSSEC) get nothing from {count, one: it, other: them}. Was this restored from a backup that lacks the keys, or made before {count, one: the zone was, other: the zones were} signed? At the registrar take that DS away, or put the one that CNAME zones shows in its place.',
  ],
  'geoSource.failing': [
    'Data of where addresses are could not be refreshed from {host} for {days} days.',
    'Those there are go on counting, and lines by country or ASN grow less exact. DNS settings → “Refresh by itself” says why: correct the address or the key, or set it to “By hand”.',
  ],
};
