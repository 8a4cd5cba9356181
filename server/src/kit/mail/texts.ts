/**
 * What the house writes to people, in each language. `{name}` is filled from the mail's data; a text that lacks a language is a type error.
 * A line alone is a paragraph; `code` and `link` stand where the template has them.
 */
import type { Text } from '#contract/kit/text.ts';

/** What each template is filled with. */
export interface MailData {
  /** that the server works */
  test: Record<never, never>;
  /** the second step of signing in */
  loginCode: { code: string; minutes: number; ip: string };
  /** the second factor is about to change */
  factorCode: { code: string; minutes: number };
  /** an account was made: its first password */
  createPassword: { name: string; link: string; hours: number };
  /** somebody who may asks for a new one */
  resetPassword: { name: string; link: string; hours: number };
  newDevice: { time: string; ip: string; place: string; device: string };
  factorOn: { time: string };
  factorOff: { time: string };
  factorTaken: { time: string };
  /** by whoever holds the machine of the control plane */
  passwordSet: { time: string };
  /** by whoever manages the account */
  passwordSetBy: { time: string; by: string };
  /** by its own person */
  passwordChanged: { time: string; ip: string };
  /** a refresh token that was replaced came again: of a browser, of a program */
  sessionCopied: { time: string; ip: string };
  tokenCopied: { time: string; ip: string; name: string };
  passkeyOn: { time: string; name: string };
  passkeyOff: { time: string; name: string };
  identityOn: { time: string; name: string };
  identityOff: { time: string; name: string };
  /** its authenticator counts behind what was seen of it */
  passkeyCopied: { time: string; ip: string };
  /** what another part of the house has to say, in the reader's language already */
  notice: { title: string; lines: readonly string[]; link?: string | undefined };
}
export type MailTemplate = keyof MailData;

export interface MailText {
  subject: Text;
  /** paragraphs */
  lines: readonly Text[];
  /** what the button says, where there is one */
  button?: Text;
  /** below, in small */
  foot?: Text;
}

const notYou: Text = {
  zh_TW: '如果不是您本人，請立即變更密碼並通知管理者。',
  zh_CN: '如果不是您本人，请立即更改密码并通知管理员。',
  en_US: 'If this was not you, change your password now and tell whoever manages your account.',
};
const tellNobody: Text = {
  zh_TW: '請勿將驗證碼告訴任何人，我們也不會向您索取。',
  zh_CN: '请勿将验证码告诉任何人，我们也不会向您索取。',
  en_US: 'Tell this code to nobody. We never ask for it.',
};
const linkFoot: Text = {
  zh_TW: '連結 {hours} 小時內有效，只能使用一次。如果按鈕無法點選，請將下列網址貼到瀏覽器：{link}',
  zh_CN: '链接 {hours} 小时内有效，只能使用一次。如果按钮无法点击，请将下列网址粘贴到浏览器：{link}',
  en_US: 'The link works once, within {hours} hours. If the button does not, paste this address into your browser: {link}',
};

export const mailTexts: { [T in Exclude<MailTemplate, 'notice'>]: MailText } = {
  test: {
    subject: { zh_TW: '郵件設定測試', zh_CN: '邮件设置测试', en_US: 'Test of the mail settings' },
    lines: [
      {
        zh_TW: '您收到這封信，表示郵件伺服器設定正確。',
        zh_CN: '您收到这封邮件，说明邮件服务器设置正确。',
        en_US: 'You have received this mail, so the mail server is set up correctly.',
      },
    ],
  },
  loginCode: {
    subject: { zh_TW: '登入驗證碼', zh_CN: '登录验证码', en_US: 'Your sign-in code' },
    lines: [
      {
        zh_TW: '您正從 {ip} 登入。請在 {minutes} 分鐘內輸入驗證碼：',
        zh_CN: '您正从 {ip} 登录。请在 {minutes} 分钟内输入验证码：',
        en_US: 'You are signing in from {ip}. Enter this code within {minutes} minutes:',
      },
    ],
    foot: {
      zh_TW: `${tellNobody.zh_TW}${notYou.zh_TW}`,
      zh_CN: `${tellNobody.zh_CN}${notYou.zh_CN}`,
      en_US: `${tellNobody.en_US} ${notYou.en_US}`,
    },
  },
  factorCode: {
    subject: { zh_TW: '變更兩步驟驗證的驗證碼', zh_CN: '更改两步验证的验证码', en_US: 'Code to change your second factor' },
    lines: [
      {
        zh_TW: '您正在變更登入的兩步驟驗證。請在 {minutes} 分鐘內輸入驗證碼：',
        zh_CN: '您正在更改登录的两步验证。请在 {minutes} 分钟内输入验证码：',
        en_US: 'You are changing the second factor of your sign-in. Enter this code within {minutes} minutes:',
      },
    ],
    foot: tellNobody,
  },
  createPassword: {
    subject: { zh_TW: '請為您的帳號設定密碼', zh_CN: '请为您的账号设置密码', en_US: 'Set a password for your account' },
    lines: [
      { zh_TW: '{name}，您好：', zh_CN: '{name}，您好：', en_US: 'Hello {name},' },
      {
        zh_TW: '已為您建立帳號。設定密碼後即可登入。',
        zh_CN: '已为您创建账号。设置密码后即可登录。',
        en_US: 'An account was made for you. Set a password and you can sign in.',
      },
    ],
    button: { zh_TW: '設定密碼', zh_CN: '设置密码', en_US: 'Set password' },
    foot: linkFoot,
  },
  resetPassword: {
    subject: { zh_TW: '重新設定密碼', zh_CN: '重新设置密码', en_US: 'Set a new password' },
    lines: [
      { zh_TW: '{name}，您好：', zh_CN: '{name}，您好：', en_US: 'Hello {name},' },
      {
        zh_TW: '管理者寄給您這個連結，讓您設定新密碼。設定之前，目前的密碼仍然有效。',
        zh_CN: '管理员发给您这个链接，让您设置新密码。设置之前，目前的密码仍然有效。',
        en_US:
          'Whoever manages your account sent you this link to set a new password. Until you do, the present one goes on working.',
      },
    ],
    button: { zh_TW: '設定新密碼', zh_CN: '设置新密码', en_US: 'Set a new password' },
    foot: linkFoot,
  },
  newDevice: {
    subject: { zh_TW: '新裝置登入', zh_CN: '新设备登录', en_US: 'Sign-in from a new device' },
    lines: [
      {
        zh_TW: '您的帳號剛從沒有見過的裝置登入：',
        zh_CN: '您的账号刚从没有见过的设备登录：',
        en_US: 'Somebody signed in to your account from a device we had not seen before:',
      },
      { zh_TW: '時間：{time}', zh_CN: '时间：{time}', en_US: 'When: {time}' },
      { zh_TW: '裝置：{device}', zh_CN: '设备：{device}', en_US: 'Device: {device}' },
      { zh_TW: '位址：{ip}{place}', zh_CN: '地址：{ip}{place}', en_US: 'Address: {ip}{place}' },
    ],
    foot: notYou,
  },
  factorOn: {
    subject: { zh_TW: '已開啟兩步驟驗證', zh_CN: '已开启两步验证', en_US: 'Your second factor was set' },
    lines: [
      {
        zh_TW: '{time} 起，登入您的帳號需要第二道驗證。',
        zh_CN: '{time} 起，登录您的账号需要第二道验证。',
        en_US: 'Since {time}, signing in to your account takes a second factor.',
      },
    ],
    foot: notYou,
  },
  factorOff: {
    subject: { zh_TW: '已關閉兩步驟驗證', zh_CN: '已关闭两步验证', en_US: 'Your second factor was removed' },
    lines: [
      {
        zh_TW: '{time} 起，登入您的帳號不再需要自己的第二道驗證。',
        zh_CN: '{time} 起，登录您的账号不再需要自己的第二道验证。',
        en_US: 'Since {time}, signing in to your account no longer takes a second factor of its own.',
      },
    ],
    foot: notYou,
  },
  factorTaken: {
    subject: {
      zh_TW: '管理者移除了您的登入驗證方式',
      zh_CN: '管理员移除了您的登录验证方式',
      en_US: 'Your second factor was removed for you',
    },
    lines: [
      {
        zh_TW:
          '{time}，管理您帳號的人移除了您自己設定的登入驗證方式（兩步驟驗證、通行金鑰或身分提供者的連結）。登入您的帳號不再需要自己的第二道驗證。',
        zh_CN:
          '{time}，管理您账号的人移除了您自己设置的登录验证方式（两步验证、通行密钥或身份提供者的关联）。登录您的账号不再需要自己的第二道验证。',
        en_US:
          'At {time} somebody who manages your account removed what you had set for signing in to it (second factor, passkeys or linked identities). Signing in no longer takes a second factor of its own.',
      },
      {
        zh_TW: '登入後請重新設定。',
        zh_CN: '登录后请重新设置。',
        en_US: 'Sign in and set them up anew.',
      },
    ],
    foot: {
      zh_TW: '如果您沒有要求這麼做，請立即變更密碼並聯絡管理者。',
      zh_CN: '如果您没有要求这么做，请立即更改密码并联系管理员。',
      en_US: 'If you did not ask for this, change your password now and ask whoever manages your account.',
    },
  },
  passwordSet: {
    subject: {
      zh_TW: '您的密碼已由系統管理者重設',
      zh_CN: '您的密码已由系统管理员重置',
      en_US: 'Your password was set anew for you',
    },
    lines: [
      {
        zh_TW: '{time}，管理這套系統主機的人為您的帳號設定了新密碼，先前的登入都已結束。',
        zh_CN: '{time}，管理这套系统主机的人为您的账号设置了新密码，之前的登录都已结束。',
        en_US:
          'At {time} whoever runs the machine of this installation set a new password for your account. Earlier sign-ins have ended.',
      },
      {
        zh_TW: '登入後請改成只有您知道的密碼。',
        zh_CN: '登录后请改成只有您知道的密码。',
        en_US: 'Sign in and choose one that you alone know.',
      },
    ],
    foot: {
      zh_TW: '如果您沒有要求這麼做，請立即聯絡管理者。',
      zh_CN: '如果您没有要求这么做，请立即联系管理员。',
      en_US: 'If you did not ask for this, tell whoever manages your account.',
    },
  },
  passwordSetBy: {
    subject: {
      zh_TW: '管理者為您的帳號設定了新密碼',
      zh_CN: '管理员为您的账号设置了新密码',
      en_US: 'A new password was set for your account',
    },
    lines: [
      {
        zh_TW: '{time}，{by} 為您的帳號設定了新密碼，先前的登入都已結束。',
        zh_CN: '{time}，{by} 为您的账号设置了新密码，之前的登录都已结束。',
        en_US: 'At {time} {by} set a new password for your account. Earlier sign-ins have ended.',
      },
      {
        zh_TW: '登入後請改成只有您知道的密碼。',
        zh_CN: '登录后请改成只有您知道的密码。',
        en_US: 'Sign in and choose one that you alone know.',
      },
    ],
    foot: {
      zh_TW: '如果您沒有要求這麼做，請立即聯絡管理者。',
      zh_CN: '如果您没有要求这么做，请立即联系管理员。',
      en_US: 'If you did not ask for this, tell whoever manages your account.',
    },
  },
  passwordChanged: {
    subject: { zh_TW: '您的密碼已變更', zh_CN: '您的密码已更改', en_US: 'Your password was changed' },
    lines: [
      {
        zh_TW: '{time}，您的帳號從 {ip} 變更了密碼，其他裝置的登入都已結束。',
        zh_CN: '{time}，您的账号从 {ip} 更改了密码，其他设备的登录都已结束。',
        en_US: 'At {time} the password of your account was changed from {ip}. Sign-ins of other devices have ended.',
      },
    ],
    foot: {
      zh_TW: '如果不是您本人，請立即聯絡管理者，請他寄給您重新設定密碼的連結。',
      zh_CN: '如果不是您本人，请立即联系管理员，请他发给您重新设置密码的链接。',
      en_US: 'If this was not you, ask whoever manages your account for a link to set a new password now.',
    },
  },
  sessionCopied: {
    subject: { zh_TW: '您的登入可能遭到複製', zh_CN: '您的登录可能遭到复制', en_US: 'One of your sign-ins may have been copied' },
    lines: [
      {
        zh_TW: '{time}，有人從 {ip} 使用了您某次登入已換掉的憑證。它可能是複本，因此那次登入已經結束。',
        zh_CN: '{time}，有人从 {ip} 使用了您某次登录已换掉的凭证。它可能是副本，因此那次登录已经结束。',
        en_US:
          'At {time} somebody used, from {ip}, a token of one of your sign-ins that had been replaced. It may be a copy, so that sign-in was ended.',
      },
      {
        zh_TW:
          '也可能只是換發憑證時，回應在途中遺失，您的瀏覽器又用了舊的那一個。如果 {ip} 是您當時使用的位址，多半就是這種情況。',
        zh_CN:
          '也可能只是换发凭证时，响应在途中丢失，您的浏览器又用了旧的那一个。如果 {ip} 是您当时使用的地址，多半就是这种情况。',
        en_US:
          'It may also be harmless: the answer with the new token was lost on its way, and your browser used the old one again. This is likely if {ip} is the address that you were using.',
      },
      {
        zh_TW: '請重新登入，並在「個人資訊」檢查其他登入。',
        zh_CN: '请重新登录，并在“个人信息”检查其他登录。',
        en_US: 'Sign in again, and look through your other sign-ins under My account.',
      },
    ],
    foot: notYou,
  },
  tokenCopied: {
    subject: { zh_TW: 'API 權杖可能遭到複製', zh_CN: 'API 令牌可能遭到复制', en_US: 'An API token may have been copied' },
    lines: [
      {
        zh_TW: '{time}，有人從 {ip} 使用了 API 權杖「{name}」已換掉的憑證。它可能是複本，因此這個權杖已經結束。',
        zh_CN: '{time}，有人从 {ip} 使用了 API 令牌“{name}”已换掉的凭证。它可能是副本，因此这个令牌已经结束。',
        en_US:
          'At {time} somebody used, from {ip}, what had been replaced of the API token “{name}”. It may be a copy, so the token was ended.',
      },
      {
        zh_TW: '請查明是誰取得了它，再為程式建立新的權杖。',
        zh_CN: '请查明是谁取得了它，再为程序创建新的令牌。',
        en_US: 'Find out who has it, then make another token for the program.',
      },
    ],
    foot: notYou,
  },
  passkeyOn: {
    subject: { zh_TW: '已新增通行金鑰', zh_CN: '已添加通行密钥', en_US: 'A passkey was added' },
    lines: [
      {
        zh_TW: '{time}，您的帳號新增了通行金鑰「{name}」，可用它登入。',
        zh_CN: '{time}，您的账号添加了通行密钥“{name}”，可用它登录。',
        en_US: 'At {time} the passkey “{name}” was added to your account. It signs in by itself.',
      },
    ],
    foot: notYou,
  },
  passkeyOff: {
    subject: { zh_TW: '已移除通行金鑰', zh_CN: '已移除通行密钥', en_US: 'A passkey was removed' },
    lines: [
      {
        zh_TW: '{time}，您的帳號移除了通行金鑰「{name}」。',
        zh_CN: '{time}，您的账号移除了通行密钥“{name}”。',
        en_US: 'At {time} the passkey “{name}” was removed from your account.',
      },
    ],
    foot: notYou,
  },
  identityOn: {
    subject: { zh_TW: '已連結身分提供者', zh_CN: '已关联身份提供者', en_US: 'An identity was linked' },
    lines: [
      {
        zh_TW: '{time}，您的帳號連結了身分提供者的身分「{name}」，可用它登入。',
        zh_CN: '{time}，您的账号关联了身份提供者的身份“{name}”，可用它登录。',
        en_US:
          'At {time} the identity “{name}” of your identity provider was linked with your account. It signs in in place of the password.',
      },
    ],
    foot: notYou,
  },
  identityOff: {
    subject: { zh_TW: '已解除身分提供者的連結', zh_CN: '已解除身份提供者的关联', en_US: 'An identity was unlinked' },
    lines: [
      {
        zh_TW: '{time}，您的帳號解除了與身分「{name}」的連結。',
        zh_CN: '{time}，您的账号解除了与身份“{name}”的关联。',
        en_US: 'At {time} the identity “{name}” was unlinked from your account.',
      },
    ],
    foot: notYou,
  },
  passkeyCopied: {
    subject: { zh_TW: '通行金鑰可能遭到複製', zh_CN: '通行密钥可能遭到复制', en_US: 'A passkey may have been copied' },
    lines: [
      {
        zh_TW: '{time}，有人嘗試從 {ip} 使用您的通行金鑰登入，但它的計數落後，可能是複本，因此已拒絕登入。',
        zh_CN: '{time}，有人尝试从 {ip} 使用您的通行密钥登录，但它的计数落后，可能是副本，因此已拒绝登录。',
        en_US:
          'At {time} somebody tried to sign in from {ip} by a passkey of yours that counts behind what we had seen of it: it may be a copy. We refused it.',
      },
      {
        zh_TW: '請移除這個通行金鑰，再新增一個。',
        zh_CN: '请移除这个通行密钥，再添加一个。',
        en_US: 'Remove that passkey and add another.',
      },
    ],
    foot: notYou,
  },
};
