/** Those of accounts and of what they act by (texts.ts). */
import type { Text } from '../kit/text.ts';

export const peopleTexts = {
  passphraseShort: {
    zh_TW: '通行密語至少要有 {min} 個字元',
    zh_CN: '口令至少要有 {min} 个字符',
    en_US: 'A passphrase has {min} characters at least',
  },
  secretShort: {
    zh_TW: '密鑰至少要有 {min} 個字元',
    zh_CN: '密钥至少要有 {min} 个字符',
    en_US: 'A secret has {min} characters at least',
  },
  backupNeeded: {
    zh_TW: '還沒有可以還原的備份。請先備份一次',
    zh_CN: '还没有可以还原的备份。请先备份一次',
    en_US: 'There is no backup to restore yet. Make one first',
  },
  folderForm: {
    zh_TW: '請填寫絕對路徑，例如 /srv/backups，不可包含 .. 或控制字元',
    zh_CN: '请填写绝对路径，例如 /srv/backups，不可包含 .. 或控制字符',
    en_US: 'Enter an absolute path, such as /srv/backups, without .. or control characters',
  },
  imageUnreadable: {
    zh_TW: '無法讀取這張圖片。請使用 PNG、JPEG、WebP、GIF 或 SVG',
    zh_CN: '无法读取这张图片。请使用 PNG、JPEG、WebP、GIF 或 SVG',
    en_US: 'This image cannot be read. Use PNG, JPEG, WebP, GIF or SVG',
  },
  tooSlow: {
    zh_TW: '資料傳送過慢或中斷，請檢查網路連線後再試',
    zh_CN: '数据发送过慢或中断，请检查网络连接后重试',
    en_US: 'It arrived too slowly or not to its end; check the connection and send it again',
  },
  imageTooLarge: {
    zh_TW: '圖片太大，最多 {max} 百萬像素。請先縮小',
    zh_CN: '图片太大，最多 {max} 百万像素。请先缩小',
    en_US: 'The image is too large: at most {max} megapixels. Make it smaller first',
  },
  imageHasScript: {
    zh_TW: '這個 SVG 含有程式、動畫或外部連結，不能使用。請移除後再上傳，或改用 PNG',
    zh_CN: '这个 SVG 含有程序、动画或外部链接，不能使用。请移除后再上传，或改用 PNG',
    en_US: 'This SVG holds a script, an animation or a link to elsewhere. Take that out, or use PNG',
  },
  tooManyDeliveries: {
    zh_TW: '已有 {n} 則訊息等待傳送到這個網址，請等其中一些送出後再試',
    zh_CN: '已有 {n} 条消息等待发送到这个网址，请等其中一些送出后再试',
    en_US: '{n} messages wait for this address already: try again once some of them are through',
  },
  telegramSaid: {
    zh_TW: 'Telegram 無法送出：{why}。請檢查權杖與聊天室編號',
    zh_CN: 'Telegram 无法送出：{why}。请检查令牌与聊天编号',
    en_US: 'Telegram did not take it: {why}. Look at the token and the chat',
  },
  ownAddressOut: {
    zh_TW: '您自己的位址 {address} 不在其中，儲存後您就無法登入。請加入包含它的網段',
    zh_CN: '您自己的地址 {address} 不在其中，保存后您就无法登录。请加入包含它的网段',
    en_US: 'Your own address {address} is not in it: you would lock yourself out. Add a network that holds it',
  },
  rootNarrows: {
    zh_TW: '只有主帳號可以縮小允許登入的網路；您可以加入網段，或請主帳號移除',
    zh_CN: '只有主账号可以缩小允许登录的网络；您可以加入网段，或请主账号移除',
    en_US: 'Only the root account may let fewer networks in. Add networks, or ask the root account to take some away',
  },
  rootSends: {
    zh_TW: '只有主帳號可以決定通知送到哪裡、送哪些；您可以停用，或減少種類',
    zh_CN: '只有主账号可以决定通知送到哪里、送哪些；您可以停用，或减少种类',
    en_US: 'Only the root account says where notices go and which. You may turn them off, or leave some out',
  },
  networkRefused: {
    zh_TW: '您的營運商不允許從這個網路登入',
    zh_CN: '您的运营商不允许从这个网络登录',
    en_US: 'Your operator lets nobody in from this network',
  },
  hostOfInstallation: {
    zh_TW: '這個主機名稱是整個系統共用的，只有系統擁有者可以設定',
    zh_CN: '这个主机名是整个系统共用的，只有系统所有者可以设置',
    en_US: 'Everybody comes by this hostname: only the owner of the installation may set it',
  },
  passkeyHost: {
    zh_TW: '這個網址不能使用通行金鑰。請改用系統或您的營運商的主機名稱開啟控制台',
    zh_CN: '这个网址不能使用通行密钥。请改用系统或您的运营商的主机名打开控制台',
    en_US: 'No passkey can be used at this address. Open the console by the hostname of the installation or of your operator',
  },
  passkeyNone: {
    zh_TW: '您在這個網址沒有通行金鑰',
    zh_CN: '您在这个网址没有通行密钥',
    en_US: 'You have no passkey at this address',
  },
  factorByApp: {
    zh_TW: '請輸入目前驗證器 App 的驗證碼，或一組備用碼',
    zh_CN: '请输入目前验证器 App 的验证码，或一组备用码',
    en_US: 'Enter a code of your present authenticator app, or one of your recovery codes',
  },
  factorByMail: {
    zh_TW: '驗證碼已寄到您的信箱，請輸入',
    zh_CN: '验证码已发送到您的邮箱，请输入',
    en_US: 'Enter the code that was mailed to you',
  },
  wrongCode: {
    zh_TW: '驗證碼不正確，或已使用、逾時',
    zh_CN: '验证码不正确，或已使用、超时',
    en_US: 'The code is wrong, used or too old',
  },
  oidcAway: {
    zh_TW: '身分提供者無法使用：{why}',
    zh_CN: '身份提供者无法使用：{why}',
    en_US: 'The identity provider cannot be used now: {why}',
  },
  oidcClient: {
    zh_TW: '身分提供者不接受這組用戶端 ID 與密鑰：{why}',
    zh_CN: '身份提供者不接受这组客户端 ID 与密钥：{why}',
    en_US: 'The identity provider does not take this client ID and secret: {why}',
  },
  oidcGone: {
    zh_TW: '目前無法使用身分提供者。請稍後再試，或以密碼登入',
    zh_CN: '目前无法使用身份提供者。请稍后重试，或用密码登录',
    en_US: 'The identity provider cannot be used now. Try again later, or sign in with your password',
  },
  oidcHost: {
    zh_TW: '這個網址沒有設定身分提供者',
    zh_CN: '此网址没有设置身份提供者',
    en_US: 'At this address there is no identity provider',
  },
  oidcUnlinked: {
    zh_TW: '沒有與此身分連結的帳號。請先以密碼登入，在「個人資訊」建立連結',
    zh_CN: '没有与此身份关联的账号。请先以密码登录，在“个人信息”建立关联',
    en_US: 'No account is linked with this identity. Sign in with your password first, and link it under My account',
  },
  roleRequired: { zh_TW: '請選擇一個角色', zh_CN: '请选择一个角色', en_US: 'Choose one role' },
  ownerStays: {
    zh_TW: '這個帳號是本系統的擁有者，備份、保留期限與共用的郵件伺服器都由它管理，不能刪除。要換人管理，請在它底下新增帳號',
    zh_CN: '此账号是本系统的所有者，备份、保留期限与共用的邮件服务器都由它管理，不能删除。要换人管理，请在它下面添加账号',
    en_US:
      'This account owns the installation: backups, retention and the mail server that others share are its own, so it cannot be deleted. To have somebody else run it, make an account below it',
  },
  passwordNotYours: {
    zh_TW: '您的權限低於這個帳號，不能替它設定密碼。請留空，由權限足夠的人設定',
    zh_CN: '您的权限低于这个账号，不能替它设置密码。请留空，由权限足够的人设置',
    en_US:
      'You hold less than this account will, so you may not set its password. Leave it empty: somebody who may act as the account sets it',
  },
  passwordNeedsPerson: {
    zh_TW: 'API 權杖不能設定密碼。請留空，由人設定',
    zh_CN: 'API 令牌不能设置密码。请留空，由人设置',
    en_US: 'An API token sets no password. Leave it empty: a person sets it',
  },
  tooManyAccounts: {
    zh_TW: '同一個主帳號之下最多 {n} 個子帳號。請先刪除不用的',
    zh_CN: '同一个主账号之下最多 {n} 个子账号。请先删除不用的',
    en_US: 'A root account has at most {n} sub-accounts. Delete those nobody uses first',
  },
  tooManyApiTokens: {
    zh_TW: '每個帳號最多 {n} 個 API 權杖。請先刪除不用的',
    zh_CN: '每个账号最多 {n} 个 API 令牌。请先删除不用的',
    en_US: 'An account has at most {n} API tokens. End those nobody uses first',
  },
  beyondSites: {
    zh_TW: '{value} 與站點無關，只限部分站點的權杖不能有',
    zh_CN: '{value} 与站点无关，只限部分站点的令牌不能有',
    en_US: '{value} is not about sites: a token for some sites cannot hold it',
  },
  mailSaid: { zh_TW: '郵件伺服器：{why}', zh_CN: '邮件服务器：{why}', en_US: 'The mail server: {why}' },
  mailTrouble: {
    zh_TW: '無法與郵件伺服器通訊：{why}',
    zh_CN: '无法与邮件服务器通信：{why}',
    en_US: 'The mail server could not be talked to: {why}',
  },
  mailServerMissing: {
    zh_TW: '尚未設定郵件伺服器。請先到系統設定填寫並測試',
    zh_CN: '尚未设置邮件服务器。请先到系统设置填写并测试',
    en_US: 'There is no mail server yet. Set one in the system settings and test it first',
  },
  mailServerNeeded: {
    zh_TW: '有 {count} 人登入時要用它寄出的驗證碼，移除後就進不來。請改填另一台伺服器，或先關閉登入驗證，並請這些人改用驗證器',
    zh_CN: '有 {count} 人登录时要用它发出的验证码，移除后就进不来。请改填另一台服务器，或先关闭登录验证，并请这些人改用验证器',
    en_US:
      'Without it {count} {count, one: person, other: people} cannot sign in: codes are mailed by it. Enter another server, or turn sign-in verification off and have them take an authenticator first',
  },
  mailServerNeededByOthers: {
    zh_TW:
      '有 {count} 人登入時要用它寄出的驗證碼，其中 {others} 人屬於其他營運商或平台，移除後就進不來。請改填另一台伺服器；其他營運商也可以設定自己的伺服器',
    zh_CN:
      '有 {count} 人登录时要用它发出的验证码，其中 {others} 人属于其他运营商或平台，移除后就进不来。请改填另一台服务器；其他运营商也可以设置自己的服务器',
    en_US:
      'Without it {count} {count, one: person, other: people} cannot sign in, {others} of them of other operators or the vendor: codes are mailed by it. Enter another server; other operators may also set one of their own',
  },
  mailPasswordAgain: {
    zh_TW: '伺服器、連接埠、加密方式或使用者改變時，請重新輸入密碼',
    zh_CN: '服务器、端口、加密方式或用户改变时，请重新输入密码',
    en_US: 'Enter the password again when server, port, encryption or user change',
  },
} as const satisfies Record<string, Text>;
