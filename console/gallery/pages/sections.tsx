import { Sections, type SettingSection } from '../../src/kit/sections.tsx';
import { t } from '../../src/kit/text.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const Content = () => <div className="panel panel-padded">{say(long)}</div>;
const groups = ['basic', 'cache', 'answers', 'modules', 'protection'] as const;
const names = ['domains', 'cache', 'purge', 'gzip', 'rates', 'cors', 'whitelists', 'blacklists'] as const;
const section = (index: number, more: Partial<SettingSection> = {}): SettingSection => ({
  name: names[index % names.length]!,
  group: groups[Math.floor(index / names.length) % groups.length]!,
  call: 'GET /{area}/account/self',
  Content,
  order: index,
  ...more,
});
const sections = (count: number, more?: Partial<SettingSection>) => (
  <Sections
    sections={Array.from({ length: count }, (_, index) => section(index, more))}
    params={{}}
    label={t('menu.sitesSetting')}
  />
);

export default [
  { state: 'normal', show: () => sections(6) },
  {
    state: 'disabled',
    note: { zh_TW: '沒有可以看的項目', zh_CN: '没有可以看的项目', en_US: 'none of them may be seen' },
    show: () => sections(2, { call: 'GET /{area}/nodes' as SettingSection['call'] }),
  },
  { state: 'many', show: () => sections(40) },
] satisfies Example[];
