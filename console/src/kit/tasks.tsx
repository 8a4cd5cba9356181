/** What takes longer than a call: how far it is, what its log says, and a way to stop it or to try it again. */
import './tasks.css';
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Pagination } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { taskLimits } from '#contract/kit/task.ts';
import { can as allows, taskActions } from '#contract/states.ts';
import { Status } from './bits.tsx';
import { type AnswerOf, call, type RowOf } from './client.ts';
import { isSure } from './confirm.ts';
import { Empty, ErrorState } from './empty.tsx';
import { overlay } from './overlay.ts';
import { query, queryClient, useAction } from './query.ts';
import { t, textOf } from './text.ts';
import { dateTime } from './time.ts';
import { number } from './units.ts';

const widthPx = 640;
const pageSize = 25;
/** Somebody else may start one meanwhile. */
const idleMs = 15_000;
const oneKey = 'GET /{area}/task/{taskID}';
type Task = RowOf<'GET /{area}/tasks'>;
type Line = AnswerOf<typeof oneKey>['lines'][number];

const isOpen = ({ state }: Task) => state === 'waiting' || state === 'running';
const title = ({ kind, about }: Task) => textOf(`task.${kind}`, about) ?? kind;
const words = ({ kind }: Task, { code, values }: Line) =>
  textOf(`taskLine.${kind}.${code}`, values) ?? textOf(`taskLine.${code}`, values) ?? code;

/** Opens the drawer; `chosen`: this one's log is open in it. */
export const openTasks = (chosen?: number): Promise<void> =>
  overlay<void>(close => <TasksDrawer chosen={chosen} onClose={() => close()} />);

function TasksDrawer({ chosen, onClose }: { chosen: number | undefined; onClose: () => void }) {
  return (
    <Drawer open title={t('tasks.title')} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      <TaskList chosen={chosen} />
    </Drawer>
  );
}

/** Tasks that one sees, the newest first; of one site alone where it is given. */
export function TaskList({ siteID, chosen }: { siteID?: number | undefined; chosen?: number | undefined }) {
  const [page, setPage] = useState(1);
  const found = useQuery({
    ...query('GET /{area}/tasks', { query: { page, pageSize, ...(siteID === undefined ? {} : { siteID }) } }),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? taskLimits.pollMs : idleMs),
  });
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return null;
  const { data, total } = found.data;
  if (!data.length)
    return (
      <Empty drawing="nothing" title={t('tasks.none')}>
        {t('tasks.noneText')}
      </Empty>
    );
  return (
    <>
      <ul className="tasks">
        {data.map(task => (
          <TaskRow key={task.id} task={task} isChosen={task.id === chosen} />
        ))}
      </ul>
      {total > pageSize && (
        <Pagination size="small" current={page} pageSize={pageSize} total={total} showSizeChanger={false} onChange={setPage} />
      )}
    </>
  );
}

function TaskRow({ task, isChosen }: { task: Task; isChosen: boolean }) {
  const [isShown, setShown] = useState(isChosen);
  const name = title(task);
  return (
    <li className="task">
      <div className="task-head">
        <strong>{name}</strong>
        <Status value={task.state} texts="taskState" />
      </div>
      <progress
        className="task-bar"
        aria-label={name}
        {...(task.total > 0 ? { max: task.total, value: task.done } : isOpen(task) ? {} : { max: 1, value: 1 })}
      />
      <div className="task-foot">
        {task.total > 0 && <span>{t('tasks.progress', { done: number(task.done), total: number(task.total) })}</span>}
        {task.failed > 0 && <span className="bad">{t('tasks.failed', { count: number(task.failed) })}</span>}
        <span>{dateTime(task.createdAt)}</span>
        {task.startedBy !== null && <span>{task.startedBy}</span>}
        <span className="grow" />
        <Button type="link" size="small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {t(isShown ? 'tasks.hideLog' : 'tasks.showLog')}
        </Button>
        {task.mayEdit && <TaskActions task={task} name={name} />}
      </div>
      {task.error !== null && (
        <p className="bad" role={isOpen(task) ? 'status' : 'alert'}>
          {task.error}
          {task.state === 'waiting' && task.attempts > 0 && ` ${t('tasks.nextTry', { time: dateTime(task.runAt) })}`}
        </p>
      )}
      {isShown && <TaskLog task={task} />}
    </li>
  );
}

function TaskActions({ task, name }: { task: Task; name: string }) {
  const cancel = useAction('PUT /{area}/task/{taskID}/cancel');
  const retry = useAction('PUT /{area}/task/{taskID}/retry');
  const at = { taskID: task.id };
  const stop = async () => {
    const isAgreed = await isSure({
      level: 'disruptive',
      title: t('action.cancelTask'),
      warning: t('warning.cancelTask'),
      targets: [name],
      isDanger: true,
      confirm: t('action.cancelTask'),
    });
    if (isAgreed) await cancel.run(at);
  };
  return (
    <>
      {allows(taskActions, 'cancel', task.state) === true && (
        <Button size="small" loading={cancel.isPending} onClick={() => void stop()}>
          {t('action.cancelTask')}
        </Button>
      )}
      {allows(taskActions, 'retry', task.state) === true && (
        <Button size="small" loading={retry.isPending} onClick={() => void retry.run(at)}>
          {t('action.retryTask')}
        </Button>
      )}
    </>
  );
}

/** The log as it grows: only what is new is asked for. */
function TaskLog({ task }: { task: Task }) {
  const key = ['task log', task.id];
  const found = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const known = queryClient.getQueryData<Line[]>(key) ?? [];
      const after = known.at(-1)?.n ?? 0;
      const answer = await call(oneKey, { taskID: task.id, query: { after } }, { signal });
      return [...known, ...answer.lines].slice(-taskLimits.lines);
    },
    staleTime: 0,
    refetchInterval: isOpen(task) && taskLimits.pollMs,
  });
  const lines = found.data ?? [];
  const list = useRef<HTMLOListElement>(null);
  // the newest is in sight
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [lines.length]);
  // its last lines were written after it was last seen under way
  const { refetch } = found;
  useEffect(() => void refetch(), [task.state, refetch]);
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void refetch()} />;
  const isCut = (lines[0]?.n ?? 1) > 1;
  return (
    <ol className="task-log" ref={list} tabIndex={0} aria-label={t('tasks.log')}>
      {isCut && <li className="ink-3">{t('tasks.cut', { count: taskLimits.lines })}</li>}
      {lines.map(line => (
        <li key={line.n} className={line.level === 'error' ? 'bad' : undefined}>
          <time dateTime={line.at}>{dateTime(line.at)}</time>
          <span>
            {words(task, line)}
            {line.error !== null && <span className="bad"> {line.error}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
