/** What the gallery itself says. Its words are no texts of the console: each stands where it is used, in the three languages. */
import { language } from '../src/kit/text.ts';
import type { Text } from '#contract/kit/text.ts';

export const say = (text: Text | string): string => (typeof text === 'string' ? text : text[language]);

export const states = {
  normal: { zh_TW: '一般', zh_CN: '一般', en_US: 'Normal' },
  empty: { zh_TW: '沒有資料', zh_CN: '没有数据', en_US: 'Empty' },
  loading: { zh_TW: '載入中', zh_CN: '加载中', en_US: 'Loading' },
  failed: { zh_TW: '失敗', zh_CN: '失败', en_US: 'Failed' },
  disabled: { zh_TW: '停用並說明原因', zh_CN: '停用并说明原因', en_US: 'Disabled, with the reason' },
  readOnly: { zh_TW: '唯讀', zh_CN: '只读', en_US: 'Read-only' },
  invalid: { zh_TW: '內容不正確', zh_CN: '内容不正确', en_US: 'Invalid' },
  long: { zh_TW: '長文字', zh_CN: '长文字', en_US: 'Long text' },
  many: { zh_TW: '大量資料', zh_CN: '大量数据', en_US: 'Many' },
} as const satisfies Record<string, Text>;
export type State = keyof typeof states;

export const words = {
  title: { zh_TW: '元件展示', zh_CN: '组件展示', en_US: 'Gallery of the kit' },
  all: { zh_TW: '全部元件', zh_CN: '全部组件', en_US: 'All pieces' },
  pieces: { zh_TW: '元件', zh_CN: '组件', en_US: 'Pieces' },
  open: { zh_TW: '開啟', zh_CN: '打开', en_US: 'Open' },
  languages: { zh_TW: '語言', zh_CN: '语言', en_US: 'Language' },
} as const satisfies Record<string, Text>;

/** A text longer than anybody planned for, and one that has no place to break. */
export const long: Text = {
  zh_TW:
    '這是一段比畫面預期還要長的文字，用來確認元件在內容很多的時候會自動換行，而不會把旁邊的按鈕推出畫面，也不會讓整個頁面變寬：設定名稱、備註與錯誤訊息都可能這麼長。',
  zh_CN:
    '这是一段比画面预期还要长的文字，用来确认组件在内容很多的时候会自动换行，而不会把旁边的按钮推出画面，也不会让整个页面变宽：设置名称、备注与错误消息都可能这么长。',
  en_US:
    'A text that is longer than anybody planned for, to see that the piece breaks its lines instead of pushing its neighbours off the screen or making the page wider: names, memos and messages of errors can be as long as this.',
};
export const unbroken = `a-name-without-a-place-to-break-${'0123456789'.repeat(12)}.example.com`;
