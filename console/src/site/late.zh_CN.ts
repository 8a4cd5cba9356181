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
} satisfies SameAs<typeof texts>;
