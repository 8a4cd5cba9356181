import type { SameAs } from '../kit/text.ts';
import type texts from './late.zh_TW.ts';

export default {
  'field.sharedWith': '已分配账号',
  'action.share': '分配账号',
  'action.expired': '设置到期时间',

  'help.siteExpired':
    '到期后，站点的所有域名都响应 904，不再连接源站；设置、域名与缓存都会保留。改成更晚的时间或永不到期，就会恢复服务。',
  'help.siteTags': '最多 50 个；可以直接选用已经在使用的标签。',
  'warning.expiredNow': '这个时间已经过了：站点会立即响应 904。',
  'share.title': '分配账号：{name}',
  'share.titleMany': '分配账号：{count} 个站点',
  'share.visible':
    '子账号只能看到分配给它的站点：能查看或编辑站点的哪些部分，由它的角色决定；没有角色就什么都看不到。客户的主账号始终能看到自己的所有站点。',
  'share.withdrawing': '取消分配后，子账号立即看不到这个站点；站点本身与服务都不受影响。',
  'share.of': '{email} 的子账号',
  'share.comma': '、',
  'share.choose': '选择要分配的子账号',
  'share.give': '分配',
  'share.take': '取消分配',
  'share.withdrawn': '已取消分配。',
  'share.already': '已分配',
  'share.some': '所选 {total} 个站点中的 {count} 个',
  'share.noRole': '没有角色，看不到任何数据',
  'share.nobody': '尚未分配给任何子账号：只有主账号能看到。',
  'share.noAccounts': '没有可以分配的子账号。',

  'empty.ports': '添加区域已开放的端口，域名就能在 80 与 443 以外提供服务。',
  'note.ports': '站点的所有域名都会在这些端口提供服务；没有自己的源站时，使用域名的源站。各端口的缓存分开存放。',
  'field.portVisitors': '可连接的访客',
  'help.sitePort': '区域开放的端口；需要增加时请联系运营商。',
  'help.portVisitors': '一行一条：IP、CIDR，或以“-”连接的范围；留空时所有人都能连接，其余的人会得到 903。',
  'help.portMapOfPort': '这个端口的源站协议为“跟随”时连到哪里；有这种源站时不能关闭。',
  'action.asDomain': '改用域名的源站',
  'warning.asDomain': '这个端口自己的源站会删除，之后的请求改由域名的源站响应。',
  'ports.asDomain': '使用域名的源站',
  'ports.everybody': '所有人',
  'ports.origins': '只用于这个端口的请求；不填时使用域名的源站。',
  'ports.follow': '协议为“跟随”的源站以 {scheme} 连到{port}。',
  'portScheme.http': 'HTTP',
  'portScheme.https': 'HTTPS',
  'portScheme.tcp': 'TCP（四层）',
  'portScheme.udp': 'UDP（四层）',

  'note.siteDNS': '添加管理域名的 DNS 账号后，通配符域名与 HTTP 无法验证的域名，会在其中放入验证记录来取得证书；证明后即移除。',
  'empty.siteDNS': '添加 DNS 账号，通配符域名也能自动取得证书。',

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
  'dnsZones.text': '刚才向 DNS 服务查询的结果：这个账号管理哪些域名所在的 DNS 区域。',
  'dnsZones.none': '站点还没有域名。',
  'dnsZone.success': '可验证',
  'dnsZone.warning': '不在这个账号',
} satisfies SameAs<typeof texts>;
