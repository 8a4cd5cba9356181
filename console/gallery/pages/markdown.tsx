import type { Text } from '#contract/kit/text.ts';
import { Markdown } from '../../src/kit/markdown.tsx';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const everything: Text = {
  zh_TW:
    '# 維護通知\n\n我們將於 **週六 02:00** 更新 *東京* 的節點，詳情請見[狀態頁](https://status.example.com)。\n\n- 網站照常運作\n- 主控台暫停 `10` 分鐘\n\n1. 請先儲存設定\n2. 完成後重新登入\n\n> 如有疑問，請聯絡我們。\n\n---\n\n```\ncurl -I https://www.example.com\n```',
  zh_CN:
    '# 维护通知\n\n我们将于 **周六 02:00** 更新 *东京* 的节点，详情请见[状态页](https://status.example.com)。\n\n- 网站照常运行\n- 控制台暂停 `10` 分钟\n\n1. 请先保存设置\n2. 完成后重新登录\n\n> 如有疑问，请联系我们。\n\n---\n\n```\ncurl -I https://www.example.com\n```',
  en_US:
    '# Maintenance\n\nOn **Saturday at 02:00** we renew the nodes in *Tokyo*: see the [status page](https://status.example.com).\n\n- Sites keep answering\n- The console rests for `10` minutes\n\n1. Save what is open\n2. Sign in again afterwards\n\n> Write to us if anything is unclear.\n\n---\n\n```\ncurl -I https://www.example.com\n```',
};
/** HTML and addresses of other kinds stay text. */
const refused = '<img src=x onerror=alert(1)> **<b>x</b>** [x](javascript:alert(1))';

const shown = (text: string) => (
  <div className="panel">
    <Markdown text={text} />
  </div>
);

export default [
  { state: 'normal', show: () => shown(say(everything)) },
  { state: 'empty', show: () => shown('') },
  { state: 'invalid', show: () => shown(refused) },
  { state: 'long', show: () => shown(`## ${say(long)}\n\n- ${say(long)}\n- ${unbroken}\n\n\`\`\`\n${unbroken}\n\`\`\``) },
] satisfies Example[];
