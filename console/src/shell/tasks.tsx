/** The button of the header that says how many tasks are under way, and opens them. */
import { UnorderedListOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { taskLimits } from '#contract/kit/task.ts';
import { showTasks } from '../kit/task-log.ts';
import { useCan } from '../kit/permissions.ts';
import { query } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const idleMs = 30_000;
const key = 'GET /{area}/tasks';

export function TasksButton() {
  const can = useCan();
  const isAsked = can(key);
  const running = useQuery({
    ...query(key, { query: { state: 'running', pageSize: 1 } }),
    enabled: isAsked,
    staleTime: 0,
    retry: false,
    refetchInterval: ({ state }) => (state.data?.total ? taskLimits.pollMs : idleMs),
  });
  if (!isAsked) return null;
  const count = running.data?.total ?? 0;
  const label = count > 0 ? t('tasks.underWay', { count: number(count) }) : t('tasks.title');
  return (
    <Button type="text" icon={<UnorderedListOutlined />} aria-label={label} title={label} onClick={() => void showTasks()}>
      {count > 0 && number(count)}
    </Button>
  );
}
