import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.geoRefresh': 'Refresh of data of where addresses are ({host})',
  'taskLine.geoRefresh.asking': 'Asking {host}',
  'taskLine.geoRefresh.unchanged': 'The source has no other file',
  'taskLine.geoRefresh.fetched': '{mb} MB came and were checked',
  'taskLine.geoRefresh.taken': 'They count now: {networks} {networks, one: network, other: networks}',
  'taskLine.geoRefresh.dropped': 'The included data were chosen meanwhile: what came is not used',
  'taskLine.geoRefresh.kept': 'The present data stay:',
} satisfies SameAs<typeof texts>;
