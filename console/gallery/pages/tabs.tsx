import type { Tab } from '../../src/kit/screens.ts';
import { tabContent, Tabs } from '../../src/kit/tabs.tsx';
import { t } from '../../src/kit/text.ts';
import type { Example } from '../pieces.ts';
import { long, say } from '../words.ts';

const Content = () => <div className="panel panel-padded">{say(long)}</div>;
const names = ['domains', 'cache', 'purge', 'blacklists', 'whitelists', 'userAgents', 'errorPages', 'gzip'] as Tab['name'][];
const tab = (name: Tab['name'], more: Partial<Tab> = {}): Tab => ({
  name,
  call: 'GET /{area}/account/self',
  Content,
  order: 0,
  ...more,
});
const tabs = (list: Tab[]) => <Tabs tabs={list} params={{}} label={t('page.blacklists')} />;

export default [
  { state: 'normal', show: () => tabs(names.slice(0, 3).map(name => tab(name))) },
  { state: 'loading', show: () => tabs([tab(names[0]!, { Content: tabContent(() => new Promise(() => {})) })]) },
  {
    state: 'disabled',
    note: { zh_TW: '沒有可以看的標籤', zh_CN: '没有可以看的标签', en_US: 'none of them may be seen' },
    show: () => tabs([tab(names[0]!, { call: 'GET /{area}/nodes' as Tab['call'] })]),
  },
  { state: 'many', show: () => tabs([...names, ...names].map((name, index) => tab(`${name}` as Tab['name'], { order: index }))) },
] satisfies Example[];
