import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.domains': 'Domains',
  'page.upstreams': 'Origins',
  'page.certificates': 'Certificates',

  'noun.domains': 'domain',
  'noun.upstreams': 'origin',
  'noun.certificates': 'certificate',

  'empty.domains': 'Add a domain with its origin to start serving visitors.',
  'empty.upstreams': 'At least one origin is needed.',
  'empty.certificates': 'Upload a certificate and give it to domains: visitors then reach them over https.',

  'field.domainName': 'Domain',
  'field.balance': 'Load balancing',
  'field.originHost': 'Origin Host header',
  'field.cnameStatus': 'CNAME',
  'field.cnameStatuses': 'CNAME',
  'field.certStatus': 'Certificate',
  'field.forceSSL': 'Force HTTPS',
  'field.autoSSL': 'Auto SSL',
  'field.provider': 'Authority',
  'field.scheme': 'Visitors come by',
  'field.portMap': 'Port map',
  'field.httpPort': 'Port for http',
  'field.httpsPort': 'Port for https',
  'field.tlsOption': 'TLS versions',
  'field.upstreamCount': 'Origins',
  'field.upstreams': 'Origins',
  'field.address': 'IP or host',
  'field.weight': 'Weight',
  'field.maxFails': 'Max fails',
  'field.failTimeout': 'Fail timeout',
  'field.hash': 'Hash',
  'field.keepalive': 'Keep-alive',
  'field.sslName': 'Certificate name',
  'field.certificate': 'Certificate and key',
  'field.names': 'Names',
  'field.issuer': 'Issuer',
  'field.notAfter': 'Expires',
  'field.isWhole': 'Chain',
  'field.keyBits': 'Key',
  'field.serial': 'Serial number',
  'field.fingerprint': 'Fingerprint (SHA-256)',
  'field.includeSubDomains': 'Include subdomains',
  'field.preload': 'Preload',

  'help.upstreams':
    'With a hash type, an origin gets the same visitors, or the same URLs, each time: the part its weight stands for. Without keep-alive every request opens a connection of its own.',
  'help.originHost': "Empty: the visitor's own Host.",
  'help.certificatePem':
    'Paste or choose PEM files: the certificate, those above it and the private key, in any order. The key is kept encrypted and never shown again.',
  'help.certificateAnew':
    'Left empty, it stays as it is. With a certificate alone the present key goes on; its domains show the new one at once.',
  'help.certificateDomains':
    'These domains show this certificate. Those that did and are not chosen have none any more, and cannot be reached over https.',
  'help.forceSSL': 'Visitors over http are sent to https, as long as the domain has a certificate.',
  'help.autoSSL':
    'A certificate is ordered and renewed by itself; the domain must lead to the nodes. Switched off, the present one is shown until it ends.',
  'help.scheme':
    'With HTTPS alone, visitors over http get 904. With HTTP alone the domain shows no certificate, and https does not connect.',
  'help.portMap':
    'Origins set to “Follow” are asked at another port for each scheme. It cannot be turned off while there are such origins.',
  'help.mappedPort': 'Left empty, the origin’s own port.',
  'help.tlsOption': 'With TLS 1.3 alone, older browsers and programs cannot connect.',
  'help.hsts': 'Browsers use https alone for this long, and it cannot be taken back: see first that https works.',
  'help.hstsAge': 'How long browsers remember it.',
  'help.includeSubDomains': 'Every subdomain is reached over https alone, too.',
  'help.preload': 'Agrees to the lists browsers come with. Getting off them takes very long.',

  'action.addUpstream': 'Add an origin',
  'action.upstreams': 'Origins',
  'action.originHost': 'Origin Host header',
  'action.balance': 'Load balancing',
  'action.forceSSL': 'Force HTTPS',
  'action.autoSSL': 'Auto SSL',
  'action.hsts': 'HSTS',
  'action.scheme': 'Scheme and ports',

  'tab.domains': 'Domains',
  'tab.certificates': 'Certificates',

  'balance.roundRobin': 'Round robin',
  'balance.ipHash': 'IP hash',
  'balance.urlHash': 'URL hash',

  'hashType.none': 'As the domain',
  'hashType.ipHash': 'Visitor IP',
  'hashType.urlHash': 'URL',

  'cnameState.unset': 'Unset',
  'cnameState.wrong': 'Wrong',
  'cnameState.active': 'Active',

  'acmeProvider.letsEncrypt': 'Let’s Encrypt',
  'acmeProvider.zeroSSL': 'ZeroSSL',
  'acmeProvider.private': 'Private authority',

  'certState.unset': 'Unset',
  'certState.pending': 'Pending',
  'certState.processing': 'Processing',
  'certState.success': 'Issued',
  'certState.fail': 'Failed',
  'certState.applyFailed': 'Application failed',
  'certState.enabled': 'Enabled',
  'certState.disabled': 'Disabled',

  'forced.1': 'HTTPS forced',
  'forced.0': 'HTTPS not forced',

  'protocol.http': 'HTTP',
  'protocol.https': 'HTTPS',
  'protocol.follow': 'Follow',

  'servedScheme.any': 'Either',
  'servedScheme.http': 'HTTP only',
  'servedScheme.https': 'HTTPS only',

  'tlsOption.any': 'TLS 1.2 and later',
  'tlsOption.TLSv1.3': 'TLS 1.3 only',

  'upstreams.follow': 'Origins set to “Follow” are asked at {http} for visitors over http, and at {https} over https.',
  'upstreams.ownPort': 'their own port',
  'upstreams.port': 'port {port}',

  'warning.removeDomains': 'They go with their origins and settings, and visitors get 903 at once.',
  'domains.noSuch': 'There is no domain {name}: it was deleted, or belongs to another site.',
  'domains.removeByNames': 'Delete by names…',
  'domains.namesTitle': 'Delete domains by their names',
  'domains.pasteNames':
    'One domain per line; pasted addresses will do. Only domains of this site are deleted, and every line says what becomes of it before anything is sent.',
  'domains.judged': 'What each line says',
  'domains.removeFound': 'Delete {count} {count, one: domain, other: domains}',
  'domains.removing': 'Deleting: {done} of {total}',
  'domains.removed': '{count} {count, one: domain, other: domains} deleted.',
  'nameVerdict.found': 'to be deleted',
  'nameVerdict.notFound': 'not on this site',
  'nameVerdict.wrong': 'no domain name',
  'nameVerdict.twice': 'named twice',
  'nameVerdicts.found': '{count} to be deleted',
  'nameVerdicts.notFound': '{count} not on this site',
  'nameVerdicts.wrong': '{count} no domain name',
  'nameVerdicts.twice': '{count} named twice',

  'certificate.assign': 'Assign certificate: {name}',
  'certificate.days': '{days} days left',
  'certificateTime.success': 'Valid',
  'certificateTime.warning': 'Ends soon',
  'certificateTime.expired': 'Expired',
  'certificateChain.success': 'Whole',
  'certificateChain.warning': 'Incomplete',
  'certificateType.manual': 'Uploaded',
  'certificateType.autoSSL': 'Auto SSL',
  'certificateType.dns': 'DNS verification',
  'task.autoSSL': 'Certificates for {count} {count, one: domain, other: domains}',
  'taskLine.autoSSL.ordered': '{host}: ordered',
  'taskLine.autoSSL.spread': '{host}: the answer for the authority stands on {nodes} {nodes, one: node, other: nodes}',
  'taskLine.autoSSL.spreadPartly':
    '{host}: the answer stands on {nodes} of {total} {total, one: node, other: nodes}; the authority is asked to look all the same',
  'taskLine.autoSSL.validated': '{host}: the authority has seen that the domain is ours',
  'taskLine.autoSSL.issued': '{host}: issued, good until {until}',
  'taskLine.autoSSL.notIssued': '{host}: not issued, tried again in {minutes} {minutes, one: minute, other: minutes}: {why}',
  'taskLine.autoSSL.notTaken':
    '{host}: the certificate could not be kept, tried again in {minutes} {minutes, one: minute, other: minutes}:',
  'taskLine.autoSSL.limited':
    'The authority asks for a pause: {count} {count, one: domain is, other: domains are} tried again in {minutes} {minutes, one: minute, other: minutes}',
} satisfies SameAs<typeof texts>;
