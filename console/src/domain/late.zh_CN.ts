import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'note.siteDNS': '添加管理域名的 DNS 账户后，通配符域名与 HTTP 无法验证的域名，会在其中放入验证记录来取得证书；证明后即移除。',
  'empty.siteDNS': '添加 DNS 账户，通配符域名也能自动取得证书。',

  'field.keyName': '密钥名称或 ID',
  'field.credentials': '密钥或 Token',
  'field.tsigName': 'TSIG 密钥名称',
  'field.algorithm': 'TSIG 算法',
  'field.tsigSecret': 'TSIG 密钥（base64）',
  'field.dnsTokenID': 'Token ID',
  'field.dnsToken': 'API Token',
  'field.accessKeyID': 'Access Key ID',
  'field.accessKeySecret': 'Access Key Secret',

  'help.dnsServer': '接受动态更新（RFC 2136）的主域名服务器；端口不是 53 时加在后面，例如 ns1.example.com:5353。',
  'help.dnsCredentials': '加密保存，之后不再显示。只需要能修改这些域名记录的权限。',
  'help.dnsToken': '加密保存，之后不再显示。只需要能读取域名列表与修改 DNS 记录的权限。',
  'help.dnsCredentialsAnew': '留空时不变；改用另一个 DNS 服务时必须填写。',

  'action.dnsZones': '检查域名',

  'dnsProvider.rfc2136': '自有域名服务器（RFC 2136）',
  'dnsProvider.cloudflare': 'Cloudflare',
  'dnsProvider.dnspod': 'DNSPod',
  'dnsProvider.route53': 'Amazon Route 53',
  'dnsProvider.aliyun': '阿里云 DNS',

  'tsigAlgorithm.hmacSHA256': 'HMAC-SHA256',
  'tsigAlgorithm.hmacSHA384': 'HMAC-SHA384',
  'tsigAlgorithm.hmacSHA512': 'HMAC-SHA512',
  'tsigAlgorithm.hmacSHA1': 'HMAC-SHA1',

  'dnsZones.title': '{name}：可验证的域名',
  'dnsZones.text': '刚才向 DNS 服务查询的结果：这个账户管理哪些域名所在的 DNS 区域。',
  'dnsZones.none': '站点还没有域名。',
  'dnsZone.success': '可验证',
  'dnsZone.warning': '不在这个账户',
} satisfies SameAs<typeof texts>;
