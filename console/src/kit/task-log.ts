/** The drawer of tasks, and the words of what tasks do: both come when somebody looks. */
import { withTexts } from './screens.ts';
import type { TaskWords } from './query.ts';
import { withLater } from './with-later.ts';

/** `taskID`: this one's log is open in it. */
export const showTasks = (taskID?: number): Promise<void> =>
  withLater(
    withTexts('tasks', () => import('./tasks.tsx')),
    ({ openTasks }) => openTasks(taskID),
  );

/** Tasks that have just begun are followed to their end, which is said in `words`. */
export const showAndFollow = (taskIDs: readonly number[], words: TaskWords): Promise<void> =>
  withLater(
    withTexts('tasks', () => import('./follow-task.ts')),
    ({ followTasks }) => void followTasks(taskIDs, words).catch(() => {}),
  );
