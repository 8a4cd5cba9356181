import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.geoRefresh': '更新 IP 地理位置数据（{host}）',
  'taskLine.geoRefresh.asking': '正在询问 {host}',
  'taskLine.geoRefresh.unchanged': '来源没有更新的文件',
  'taskLine.geoRefresh.fetched': '已获取 {mb} MB 并检查',
  'taskLine.geoRefresh.taken': '已采用，共 {networks} 个网段',
  'taskLine.geoRefresh.dropped': '期间已改回自带数据，因此未采用这次获取的文件',
  'taskLine.geoRefresh.kept': '沿用先前的数据：',
} satisfies SameAs<typeof texts>;
