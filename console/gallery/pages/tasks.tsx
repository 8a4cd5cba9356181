import { TaskList } from '../../src/kit/tasks.tsx';
import { site } from '../fake.ts';
import type { Example } from '../pieces.ts';

export default [
  { state: 'normal', show: () => <TaskList siteID={site.some} /> },
  { state: 'empty', show: () => <TaskList siteID={site.none} /> },
  { state: 'failed', show: () => <TaskList siteID={site.broken} /> },
  { state: 'long', show: () => <TaskList siteID={site.long} /> },
] satisfies Example[];
