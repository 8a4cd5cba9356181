/** What the lists of sites say; it is loaded with them. This file is the type of the other languages. */
export default {
  'field.sharedWith': '已指派帳號',
  'action.share': '指派帳號',
  'action.expired': '設定到期時間',

  'help.siteExpired':
    '到期後，站點的所有網域都回應 904，不再連到源站；設定、網域與快取都會保留。改成更晚的時間或永不到期，就會恢復服務。',
  'help.siteTags': '最多 50 個；可以直接選用已經在使用的標籤。',
  'warning.expiredNow': '這個時間已經過了：站點會立即回應 904。',
  'share.title': '指派帳號：{name}',
  'share.titleMany': '指派帳號：{count} 個站點',
  'share.visible':
    '子帳號只看得到指派給它的站點：能檢視或編輯站點的哪些部分，由它的角色決定；沒有角色就什麼都看不到。客戶的主帳號一直看得到自己的所有站點。',
  'share.withdrawing': '取消指派後，子帳號立即看不到這個站點；站點本身與服務都不受影響。',
  'share.of': '{email} 的子帳號',
  'share.comma': '、',
  'share.choose': '選擇要指派的子帳號',
  'share.give': '指派',
  'share.take': '取消指派',
  'share.withdrawn': '已取消指派。',
  'share.already': '已指派',
  'share.some': '所選 {total} 個站點中的 {count} 個',
  'share.noRole': '沒有角色，看不到任何資料',
  'share.nobody': '尚未指派給任何子帳號：只有主帳號看得到。',
  'share.noAccounts': '沒有可以指派的子帳號。',
};
