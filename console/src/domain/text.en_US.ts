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
  'field.upstreamCount': 'Origins',
  'field.upstreams': 'Origins',
  'field.address': 'IP or host',
  'field.weight': 'Weight',
  'field.maxFails': 'Max fails',
  'field.failTimeout': 'Fail timeout',
  'field.sslName': 'Certificate name',
  'field.certificate': 'Certificate and key',
  'field.names': 'Names',
  'field.issuer': 'Issuer',
  'field.notAfter': 'Expires',
  'field.isWhole': 'Chain',
  'field.keyBits': 'Key',
  'field.serial': 'Serial number',
  'field.fingerprint': 'Fingerprint (SHA-256)',

  'help.originHost': "Empty: the visitor's own Host.",
  'help.certificatePem':
    'Paste or choose PEM files: the certificate, those above it and the private key, in any order. The key is kept encrypted and never shown again.',
  'help.certificateAnew':
    'Left empty, it stays as it is. With a certificate alone the present key goes on; its domains show the new one at once.',
  'help.certificateDomains':
    'These domains show this certificate. Those that did and are not chosen have none any more, and cannot be reached over https.',

  'action.addUpstream': 'Add an origin',
  'action.upstreams': 'Origins',
  'action.originHost': 'Origin Host header',
  'action.balance': 'Load balancing',

  'tab.domains': 'Domains',
  'tab.certificates': 'Certificates',

  'balance.roundRobin': 'Round robin',
  'balance.ipHash': 'IP hash',
  'balance.urlHash': 'URL hash',

  'cnameState.unset': 'Unset',
  'cnameState.wrong': 'Wrong',
  'cnameState.active': 'Active',

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
} satisfies SameAs<typeof texts>;
