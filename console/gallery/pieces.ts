/**
 * The gallery's pages as data: which exports of the kit each of them shows, and in which states. console/test/gallery.test.ts holds this
 * against the kit; whoever adds a piece adds a line here and a page in pages/ (docs/handbook/adding-a-piece.md).
 */
import type { ReactNode } from 'react';
import type { Text } from '#contract/kit/text.ts';
import type { State } from './words.ts';

export interface Example {
  state: State;
  /** What is particular about it, where the state alone does not say it. */
  note?: Text | string;
  /** Drawn in its place… */
  show?: () => ReactNode;
  /** …or opened over the page by a button. */
  open?: (onClose: () => void) => ReactNode;
}
export interface Piece {
  /** Its page: `#<name>`, pages/<name>.tsx. */
  name: string;
  title: Text;
  /** Exports of console/src/kit that this page shows. */
  shows: readonly string[];
  /** Every state the piece can be in, each drawn at least once. */
  states: readonly State[];
  load: () => Promise<{ default: readonly Example[] }>;
}

export const pieces: readonly Piece[] = [
  {
    name: 'status',
    title: { zh_TW: '狀態、標籤與明細', zh_CN: '状态、标签与明细', en_US: 'Status, tags, facts' },
    shows: ['Status', 'Toned', 'AnswerStatus', 'Tags', 'Facts', 'Until', 'Copied'],
    states: ['normal', 'empty', 'long', 'many'],
    load: () => import('./pages/status.tsx'),
  },
  {
    name: 'page',
    title: { zh_TW: '頁面標題', zh_CN: '页面标题', en_US: 'Heading of a page' },
    shows: ['Page', 'CopyButton'],
    states: ['normal', 'disabled', 'long'],
    load: () => import('./pages/page.tsx'),
  },
  {
    name: 'empty',
    title: { zh_TW: '沒有內容時', zh_CN: '没有内容时', en_US: 'Nothing to show' },
    shows: ['Empty', 'ErrorState', 'Stale'],
    states: ['empty', 'failed', 'disabled', 'long'],
    load: () => import('./pages/empty.tsx'),
  },
  {
    name: 'confirm',
    title: { zh_TW: '確認與錯誤對話框', zh_CN: '确认与错误对话框', en_US: 'Questions and errors' },
    shows: ['Confirm', 'ErrorDialog'],
    states: ['normal', 'failed', 'long', 'many'],
    load: () => import('./pages/confirm.tsx'),
  },
  {
    name: 'list',
    title: { zh_TW: '清單', zh_CN: '列表', en_US: 'List' },
    shows: [
      'ResourcePage',
      'ResourceTable',
      'RowMenu',
      'ChosenBar',
      'FilterBar',
      'FilterInput',
      'FilterToggle',
      'ExportButton',
      'SaveButton',
      'NewButton',
      'CreateForm',
      'OneRow',
      'Opened',
    ],
    states: ['normal', 'empty', 'loading', 'failed', 'disabled', 'readOnly', 'long', 'many'],
    load: () => import('./pages/list.tsx'),
  },
  {
    name: 'form',
    title: { zh_TW: '表單', zh_CN: '表单', en_US: 'Form' },
    shows: ['ResourceForm', 'FormDrawer', 'Field', 'Label', 'BatchForm', 'MixedField', 'ConflictPanel', 'ViewDrawer'],
    states: ['normal', 'readOnly', 'invalid', 'long', 'many'],
    load: () => import('./pages/form.tsx'),
  },
  {
    name: 'time',
    title: { zh_TW: '時間輸入', zh_CN: '时间输入', en_US: 'Points in time' },
    shows: ['TimeInput', 'RangeInput'],
    states: ['normal', 'empty', 'invalid'],
    load: () => import('./pages/time.tsx'),
  },
  {
    name: 'history',
    title: { zh_TW: '變更紀錄', zh_CN: '变更记录', en_US: 'History' },
    shows: ['HistoryPanel', 'HistoryDrawer', 'RemovedDrawer'],
    states: ['normal', 'empty', 'loading', 'failed', 'long'],
    load: () => import('./pages/history.tsx'),
  },
  {
    name: 'setting',
    title: { zh_TW: '設定', zh_CN: '设置', en_US: 'Setting' },
    shows: ['SettingPanel', 'SettingForm', 'CardForm', 'Differs'],
    states: ['normal', 'failed', 'long'],
    load: () => import('./pages/setting.tsx'),
  },
  {
    name: 'trial',
    title: { zh_TW: '測試設定', zh_CN: '测试设置', en_US: 'Trying what is set' },
    shows: ['Trial'],
    states: ['normal', 'empty', 'failed', 'long'],
    load: () => import('./pages/trial.tsx'),
  },
  {
    name: 'asked',
    title: { zh_TW: '即時查詢的結果', zh_CN: '即时查询的结果', en_US: 'What somebody says when asked now' },
    shows: ['AskedNow'],
    states: ['normal', 'empty', 'loading', 'failed', 'long', 'many'],
    load: () => import('./pages/asked.tsx'),
  },
  {
    name: 'members',
    title: { zh_TW: '成員', zh_CN: '成员', en_US: 'Members' },
    shows: ['Members'],
    states: ['normal', 'empty', 'loading', 'failed', 'disabled', 'long', 'many'],
    load: () => import('./pages/members.tsx'),
  },
  {
    name: 'tabs',
    title: { zh_TW: '分頁標籤', zh_CN: '标签页', en_US: 'Tabs' },
    shows: ['Tabs', 'LockedTab'],
    states: ['normal', 'loading', 'disabled', 'many'],
    load: () => import('./pages/tabs.tsx'),
  },
  {
    name: 'sections',
    title: { zh_TW: '設定頁面的項目', zh_CN: '设置页面的项目', en_US: 'Sections of a page of settings' },
    shows: ['Sections'],
    states: ['normal', 'disabled', 'many'],
    load: () => import('./pages/sections.tsx'),
  },
  {
    name: 'tasks',
    title: { zh_TW: '工作', zh_CN: '任务', en_US: 'Tasks' },
    shows: ['TaskList'],
    states: ['normal', 'empty', 'failed', 'long'],
    load: () => import('./pages/tasks.tsx'),
  },
  {
    name: 'chart',
    title: { zh_TW: '圖表與排行', zh_CN: '图表与排行', en_US: 'Charts and rankings' },
    shows: ['TimeChart', 'Plot', 'ChartTable', 'TopList'],
    states: ['normal', 'empty', 'loading', 'failed', 'long', 'many'],
    load: () => import('./pages/chart.tsx'),
  },
  {
    name: 'lines',
    title: { zh_TW: '即時圖表與多條線', zh_CN: '实时图表与多条线', en_US: 'Live charts, many lines' },
    shows: ['LiveChart', 'ManyLegend'],
    states: ['normal', 'empty', 'loading', 'failed', 'long', 'many'],
    load: () => import('./pages/lines.tsx'),
  },
  {
    name: 'code',
    title: { zh_TW: '程式碼', zh_CN: '代码', en_US: 'Code' },
    shows: ['CodeEditor', 'CodeField'],
    states: ['normal', 'empty', 'disabled', 'readOnly', 'invalid', 'long', 'many'],
    load: () => import('./pages/code.tsx'),
  },
  {
    name: 'map',
    title: { zh_TW: '世界地圖', zh_CN: '世界地图', en_US: 'Map of the world' },
    shows: ['WorldMap'],
    states: ['normal', 'empty', 'loading', 'failed', 'long', 'many'],
    load: () => import('./pages/map.tsx'),
  },
  {
    name: 'pins',
    title: { zh_TW: '地點地圖', zh_CN: '地点地图', en_US: 'Map of places' },
    shows: ['PinMap'],
    states: ['normal', 'empty', 'loading', 'failed', 'long', 'many'],
    load: () => import('./pages/pins.tsx'),
  },
  {
    name: 'units',
    title: { zh_TW: '數量與單位', zh_CN: '数量与单位', en_US: 'Amounts and units' },
    shows: ['UnitsInput', 'WithWhy', 'NumberInput'],
    states: ['normal', 'empty', 'disabled', 'readOnly', 'invalid', 'long'],
    load: () => import('./pages/units.tsx'),
  },
  {
    name: 'wizard',
    title: { zh_TW: '逐步設定', zh_CN: '分步设置', en_US: 'One step after the other' },
    shows: ['Wizard'],
    states: ['normal', 'loading', 'disabled', 'invalid', 'long', 'many'],
    load: () => import('./pages/wizard.tsx'),
  },
  {
    name: 'transfer',
    title: { zh_TW: '選擇多項', zh_CN: '选择多项', en_US: 'Many of many' },
    shows: ['Transfer', 'RowWindow'],
    states: ['normal', 'empty', 'loading', 'failed', 'disabled', 'readOnly', 'invalid', 'long', 'many'],
    load: () => import('./pages/transfer.tsx'),
  },
  {
    name: 'regions',
    title: { zh_TW: '地區', zh_CN: '地区', en_US: 'Regions' },
    shows: ['RegionTree'],
    states: ['normal', 'empty', 'loading', 'disabled', 'readOnly', 'invalid', 'long', 'many'],
    load: () => import('./pages/regions.tsx'),
  },
  {
    name: 'places',
    title: { zh_TW: '地點', zh_CN: '地点', en_US: 'Places' },
    shows: ['PlaceShown', 'PlacesInput'],
    states: ['normal', 'empty', 'long', 'many'],
    load: () => import('./pages/places.tsx'),
  },
  {
    name: 'schedule',
    title: { zh_TW: '每週時段', zh_CN: '每周时段', en_US: 'Hours of a week' },
    shows: ['Schedule'],
    states: ['normal', 'empty', 'disabled', 'readOnly', 'invalid', 'many'],
    load: () => import('./pages/schedule.tsx'),
  },
  {
    name: 'secret',
    title: { zh_TW: '只顯示一次的密鑰', zh_CN: '只显示一次的密钥', en_US: 'Secret shown once' },
    shows: ['SecretOnce'],
    states: ['normal', 'loading', 'long'],
    load: () => import('./pages/secret.tsx'),
  },
  {
    name: 'pem',
    title: { zh_TW: '憑證與私鑰', zh_CN: '证书与私钥', en_US: 'Certificate and key' },
    shows: ['PemInput'],
    states: ['normal', 'empty', 'invalid', 'disabled', 'readOnly'],
    load: () => import('./pages/pem.tsx'),
  },
  {
    name: 'color',
    title: { zh_TW: '顏色與對比', zh_CN: '颜色与对比', en_US: 'Colour and contrast' },
    shows: ['ColorInput'],
    states: ['normal', 'empty', 'invalid', 'disabled', 'readOnly'],
    load: () => import('./pages/color.tsx'),
  },
  {
    name: 'switch',
    title: { zh_TW: '列中的開關', zh_CN: '行内开关', en_US: 'Switch in a row' },
    shows: ['InlineSwitch'],
    states: ['normal', 'failed', 'disabled'],
    load: () => import('./pages/switch.tsx'),
  },
  {
    name: 'sort',
    title: { zh_TW: '排序清單', zh_CN: '排序列表', en_US: 'Rows in an order' },
    shows: ['SortList'],
    states: ['normal', 'empty', 'disabled', 'readOnly', 'long', 'many'],
    load: () => import('./pages/sort.tsx'),
  },
  {
    name: 'conditions',
    title: { zh_TW: '條件', zh_CN: '条件', en_US: 'Conditions' },
    shows: ['ConditionBuilder'],
    states: ['normal', 'empty', 'disabled', 'readOnly', 'invalid', 'long', 'many'],
    load: () => import('./pages/conditions.tsx'),
  },
  {
    name: 'markdown',
    title: { zh_TW: 'Markdown 內容', zh_CN: 'Markdown 内容', en_US: 'Markdown' },
    shows: ['Markdown'],
    states: ['normal', 'empty', 'invalid', 'long'],
    load: () => import('./pages/markdown.tsx'),
  },
];

/** Exports that draw nothing of their own, each with the reason. */
export const without: Readonly<Record<string, string>> = {
  Frame: 'all of the gallery stands in it',
  OverlayHost: 'draws what others open; every dialog of the gallery is drawn by it',
  FormContext: 'a context, drawn by FormDrawer',
};
